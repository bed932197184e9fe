//! Reads RNNoise's trained weights in the form that `nnnoiseless` publishes them: layer after layer, bytes with a sign that
//! stand for multiples of 1/256. They become `f32` weights in the order of gates and axes that `gru` and `linear` take.

use std::fmt;

use model_graph::{DType, Error, Weight, WeightSource};

/// The layers in the order of the file, and whether they are recurrent.
const LAYERS: [(&str, bool); 6] = [
    ("input", false),
    ("voice_unit", true),
    ("noise_unit", true),
    ("gain_unit", true),
    ("gain_layer", false),
    ("voice_layer", false),
];

/// What is wrong with a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Malformed {
    /// It ends within that layer.
    Short(&'static str),
    /// The layer's activation is not the one that the network has there.
    Activation(&'static str, u8),
    /// There are that many bytes behind the last layer.
    Long(usize),
}

impl fmt::Display for Malformed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Malformed::Short(layer) => write!(f, "the file of weights ends within the layer `{layer}`"),
            Malformed::Activation(layer, given) => {
                write!(f, "the layer `{layer}` has activation {given}, which the network does not have there")
            }
            Malformed::Long(rest) => write!(f, "the file of weights has {rest} bytes behind its last layer"),
        }
    }
}

impl std::error::Error for Malformed {}

/// RNNoise's weights as a source, named `LAYER.w` and `LAYER.b`, for recurrent layers `w_ih`, `w_hh` and `b`.
#[derive(Debug)]
pub struct RnnoiseWeights {
    tensors: Vec<(String, Vec<usize>, Vec<u8>)>,
}

impl RnnoiseWeights {
    /// Reads a whole file.
    ///
    /// # Errors
    /// When the file is shorter or longer than its layers, or has other activations than the network.
    pub fn new(bytes: &[u8]) -> Result<RnnoiseWeights, Malformed> {
        let mut weights = RnnoiseWeights { tensors: Vec::new() };
        let mut rest = bytes;
        for (layer, recurrent) in LAYERS {
            rest = weights.layer(layer, recurrent, rest).ok_or(Malformed::Short(layer))??;
        }
        if rest.is_empty() { Ok(weights) } else { Err(Malformed::Long(rest.len())) }
    }

    /// Reads a layer and gives what comes after it; `None` when the bytes do not suffice.
    fn layer<'b>(
        &mut self,
        layer: &'static str,
        recurrent: bool,
        bytes: &'b [u8],
    ) -> Option<Result<&'b [u8], Malformed>> {
        let ([inputs, units, activation], rest) = bytes.split_first_chunk()?;
        let (inputs, units) = (usize::from(*inputs), usize::from(*units));
        // 0 is tanh, 1 sigmoid, 2 relu.
        let expected = match layer {
            "input" => 0,
            "gain_layer" | "voice_layer" => 1,
            _ => 2,
        };
        if *activation != expected {
            return Some(Err(Malformed::Activation(layer, *activation)));
        }
        let rows = if recurrent { 3 * units } else { units };
        let (w, rest) = rest.split_at_checked(inputs * rows)?;
        self.matrix(format!("{layer}.{}", if recurrent { "w_ih" } else { "w" }), w, inputs, units, rows);
        let mut rest = rest;
        if recurrent {
            let (w, more) = rest.split_at_checked(units * rows)?;
            self.matrix(format!("{layer}.w_hh"), w, units, units, rows);
            rest = more;
        }
        let (b, rest) = rest.split_at_checked(rows)?;
        let numbers = gates(rows, units).map(|row| number(b[row]));
        self.tensors.push((format!("{layer}.b"), vec![rows], numbers.flat_map(f32::to_le_bytes).collect()));
        Some(Ok(rest))
    }

    /// A matrix whose rows stand in the file as columns.
    fn matrix(&mut self, name: String, bytes: &[u8], columns: usize, units: usize, rows: usize) {
        let numbers = gates(rows, units)
            .flat_map(|row| (0..columns).map(move |column| (row, column)))
            .map(|(row, column)| number(bytes[column * rows + row]));
        let numbers = numbers.flat_map(f32::to_le_bytes).collect();
        self.tensors.push((name, vec![rows, columns], numbers));
    }
}

/// The file's rows in the order that `gru` takes: it has the update gate before the reset gate.
fn gates(rows: usize, units: usize) -> impl Iterator<Item = usize> {
    (0..rows).map(move |row| match row / units {
        _ if rows == units => row,
        0 => row + units,
        1 => row - units,
        _ => row,
    })
}

fn number(byte: u8) -> f32 {
    f32::from(byte.cast_signed()) / 256.0
}

impl WeightSource for RnnoiseWeights {
    fn find(&self, name: &str) -> Result<Option<Weight<'_>>, Error> {
        Ok(self.tensors.iter().find(|(known, _, _)| known == name).map(|(_, shape, bytes)| Weight {
            dtype: Some(DType::F32),
            shape,
            bytes,
        }))
    }

    fn names(&self, visit: &mut dyn FnMut(&str)) {
        self.tensors.iter().for_each(|(name, _, _)| visit(name));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_of_another_length_are_refused() {
        let file = super::super::WEIGHTS;
        assert!(RnnoiseWeights::new(file).is_ok());
        for end in [0, 2, 3, 1000, file.len() - 1] {
            assert!(matches!(RnnoiseWeights::new(&file[..end]), Err(Malformed::Short(_))), "{end} bytes");
        }
        let longer = [file, &[0]].concat();
        assert_eq!(RnnoiseWeights::new(&longer).err(), Some(Malformed::Long(1)));
        let mut other = file.to_vec();
        other[2] = 1;
        assert_eq!(RnnoiseWeights::new(&other).err(), Some(Malformed::Activation("input", 1)));
    }
}
