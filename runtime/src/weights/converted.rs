//! Weights of other element types than a model's: the source that asks for them to be converted, and how that is done, a
//! piece at a time on the stack. It knows one weight and its place, and nothing of models.

use super::{Weight, WeightSource};
use crate::{BLOCK, Block, BlockQ4_0, BlockQ8_0, Buffer, DType, Error, View, bf16, f16};

/// A source whose floats take the element types of the model's weights as they are loaded: a file of `f32` fills weights
/// of `f16`, `bf16`, `q8_0` and `q4_0`.
///
/// Each of these five types becomes each other. Halves are rounded to the nearest, to the even one of two; rows become
/// blocks as by [`quantise`](crate::quantise), the last block of a row filled up with zeros. What is of the right type
/// stays as it is. `load` complains of everything else as ever, and of a number that becomes infinite, or is none, in the
/// weight's type, before anything is written. It converts straight into the model's buffer and allocates nothing for it.
///
/// ```
/// # use model_graph::{Converted, Cpu, DType, Error, Weight, WeightSource, f16, model_graph};
/// #[model_graph]
/// struct Model {
///     #[input]
///     x: Tensor<f32, 2>,
///     #[weight]
///     w: Tensor<f16, 2>,
///     #[output(x * (w as f32))]
///     y: Tensor<f32, 2>,
/// }
/// # struct File;
/// # impl WeightSource for File {
/// #     fn find(&self, name: &str) -> Result<Option<Weight<'_>>, Error> {
/// #         let weight = Weight { dtype: Some(DType::F32), shape: &[2], bytes: &[0, 0, 128, 63, 1, 0, 0, 64] };
/// #         Ok((name == "w").then_some(weight))
/// #     }
/// #     fn names(&self, visit: &mut dyn FnMut(&str)) {
/// #         visit("w");
/// #     }
/// # }
/// # let file = File;
/// // `w` of the file is f32.
/// let mut model = Model::new(&Cpu)?;
/// model.load(&Converted::new(&file))?;
/// assert_eq!(*model.w(), [1.0, 2.0].map(f16::from_f32));
/// # Ok::<(), Error>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Converted<'a, S: ?Sized> {
    source: &'a S,
}

impl<'a, S: WeightSource + ?Sized> Converted<'a, S> {
    /// The weights of `source`.
    pub fn new(source: &'a S) -> Converted<'a, S> {
        Converted { source }
    }
}

impl<S: WeightSource + ?Sized> WeightSource for Converted<'_, S> {
    /// The weight as the source has it: it is converted where it is put.
    fn find(&self, name: &str) -> Result<Option<Weight<'_>>, Error> {
        self.source.find(name)
    }

    fn names(&self, visit: &mut dyn FnMut(&str)) {
        self.source.names(visit);
    }

    fn converts(&self) -> bool {
        true
    }
}

/// True for two types whose elements become one another.
pub(super) fn convertible(from: DType, to: DType) -> bool {
    let float = |dtype: DType| dtype.is_float() || dtype.is_quantised();
    float(from) && float(to)
}

/// The first element that the type does not hold, and where it is. The weight has as many bytes as it needs.
pub(super) fn beyond(weight: &Weight<'_>, from: DType, to: DType) -> Option<(usize, f32)> {
    if to == DType::F32 {
        return None;
    }
    let mut at = 0;
    let found = runs(weight, from, &mut |elements| {
        match elements.iter().position(|element| !holds(to, *element)) {
            Some(index) => return Err((at + index, elements[index])),
            None => at += elements.len(),
        }
        Ok(())
    });
    found.err()
}

/// Not-a-number and infinities are halves too. Of blocks, it is the scale that has to be finite.
fn holds(dtype: DType, element: f32) -> bool {
    match dtype {
        DType::F16 => f16::from_f32(element).is_finite() || !element.is_finite(),
        DType::BF16 => bf16::from_f32(element).is_finite() || !element.is_finite(),
        DType::Q8_0 => f16::from_f32(element / 127.0).is_finite(),
        DType::Q4_0 => f16::from_f32(element / 8.0).is_finite(),
        _ => true,
    }
}

/// Converts a weight into its place, whose first byte is at `offset`. The weight has as many bytes as it needs.
pub(super) fn write(
    buffer: &mut dyn Buffer,
    offset: usize,
    view: &View,
    weight: &Weight<'_>,
    from: DType,
) -> Result<(), Error> {
    let mut pieces = Pieces { buffer, offset, piece: [0; PIECE], filled: 0 };
    runs(weight, from, &mut |elements| encode(elements, view.dtype, &mut |bytes| pieces.push(bytes)))?;
    pieces.flush()
}

/// Gives a weight's elements, by rows and in each by [`BLOCK`] at most.
fn runs<E>(weight: &Weight<'_>, from: DType, take: &mut dyn FnMut(&[f32]) -> Result<(), E>) -> Result<(), E> {
    let columns = weight.shape.last().copied().unwrap_or(1);
    let row = columns.div_ceil(from.block()) * from.size();
    let run = BLOCK / from.block() * from.size();
    // Without columns there are no bytes, and no row of none.
    for bytes in weight.bytes.chunks_exact(row.max(1)) {
        for (at, bytes) in bytes.chunks(run).enumerate() {
            let elements = decode(bytes, from);
            take(&elements[..(columns - at * BLOCK).min(BLOCK)])?;
        }
    }
    Ok(())
}

/// The elements of a run; beyond its end, anything.
fn decode(bytes: &[u8], from: DType) -> [f32; BLOCK] {
    let mut elements = [0.0; BLOCK];
    match (from, bytes) {
        (DType::Q8_0, [low, high, values @ ..]) => {
            let mut block = BlockQ8_0 { scale: f16::from_le_bytes([*low, *high]), ..BlockQ8_0::default() };
            block.values.iter_mut().zip(values).for_each(|(value, byte)| *value = *byte as i8);
            elements = block.dequantise();
        }
        (DType::Q4_0, [low, high, values @ ..]) => {
            let mut block = BlockQ4_0 { scale: f16::from_le_bytes([*low, *high]), ..BlockQ4_0::default() };
            block.values.iter_mut().zip(values).for_each(|(value, byte)| *value = *byte);
            elements = block.dequantise();
        }
        (DType::F16, _) => fill(&mut elements, bytes, |bytes| f16::from_le_bytes(bytes).to_f32()),
        (DType::BF16, _) => fill(&mut elements, bytes, |bytes| bf16::from_le_bytes(bytes).to_f32()),
        _ => fill(&mut elements, bytes, f32::from_le_bytes),
    }
    elements
}

fn fill<const N: usize>(elements: &mut [f32], bytes: &[u8], element: impl Fn([u8; N]) -> f32) {
    elements.iter_mut().zip(bytes.as_chunks().0).for_each(|(place, bytes)| *place = element(*bytes));
}

/// Gives the bytes of a run's elements in a type, little-endian.
fn encode(elements: &[f32], to: DType, push: &mut dyn FnMut(&[u8]) -> Result<(), Error>) -> Result<(), Error> {
    let whole = || {
        let mut whole = [0.0; BLOCK];
        whole[..elements.len()].copy_from_slice(elements);
        whole
    };
    match to {
        DType::Q8_0 => {
            let block = BlockQ8_0::quantise(&whole());
            push(&block.scale.to_le_bytes())?;
            push(bytemuck::bytes_of(&block.values))
        }
        DType::Q4_0 => {
            let block = BlockQ4_0::quantise(&whole());
            push(&block.scale.to_le_bytes())?;
            push(&block.values)
        }
        DType::F16 => spread(elements, push, |element| f16::from_f32(element).to_le_bytes()),
        DType::BF16 => spread(elements, push, |element| bf16::from_f32(element).to_le_bytes()),
        _ => spread(elements, push, f32::to_le_bytes),
    }
}

fn spread<const N: usize>(
    elements: &[f32],
    push: &mut dyn FnMut(&[u8]) -> Result<(), Error>,
    bytes: impl Fn(f32) -> [u8; N],
) -> Result<(), Error> {
    let mut run = [[0; N]; BLOCK];
    run.iter_mut().zip(elements).for_each(|(place, element)| *place = bytes(*element));
    push(run[..elements.len()].as_flattened())
}

/// Bytes of a piece: a buffer on a device is given few large ones rather than many small ones.
const PIECE: usize = 4096;

/// Gathers bytes and puts them into a buffer, one after the other from an offset on.
struct Pieces<'a> {
    buffer: &'a mut dyn Buffer,
    offset: usize,
    piece: [u8; PIECE],
    filled: usize,
}

impl Pieces<'_> {
    fn push(&mut self, mut bytes: &[u8]) -> Result<(), Error> {
        while !bytes.is_empty() {
            let (now, later) = bytes.split_at(bytes.len().min(PIECE - self.filled));
            self.piece[self.filled..self.filled + now.len()].copy_from_slice(now);
            self.filled += now.len();
            bytes = later;
            if self.filled == PIECE {
                self.flush()?;
            }
        }
        Ok(())
    }

    fn flush(&mut self) -> Result<(), Error> {
        self.buffer.set(self.offset, &self.piece[..self.filled])?;
        self.offset += self.filled;
        self.filled = 0;
        Ok(())
    }
}
