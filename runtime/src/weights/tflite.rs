//! Weights from the bytes of a TensorFlow Lite file: its tensors by name or by index, and their quantisation. It reads no
//! graph: the network is written in the language.
//!
//! The tables are those of TensorFlow Lite's `schema.fbs`; fields are named beside their numbers.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use super::flatbuffer::{Outside, Table};
use super::{Weight, WeightSource};
use crate::{DType, Error, ErrorKind};

/// The most dimensions that a tensor of a file may have. It bounds what a small file can make a reader keep.
const MAX_DIMS: usize = 16;

/// The tensors of a TensorFlow Lite file's first graph, read from bytes that may lie at any address.
///
/// A weight is found by its index (`"17"`) or by its name in the file. Behind either may stand `.scale` for the scales of
/// its quantisation, and `.zero` for the zero points: one is a scalar, several are a vector. Scales can be asked of every
/// tensor, the computed ones among them; elements only of those that the file holds.
///
/// A name in the file comes before all of that: in one with a tensor called `x.scale`, that is what `x.scale` means, and not
/// the scales of `x`; one called `17` comes before the tensor at index 17. Of two tensors with one name the first counts.
/// What is hidden so is found by index: `4.scale`.
///
/// The model keeps the names of the language; [`Renamed`](super::Renamed) says which tensor each of them is.
#[derive(Debug)]
pub struct TfLite<'a> {
    tensors: Vec<Tensor<'a>>,
    inputs: Vec<usize>,
    outputs: Vec<usize>,
}

#[derive(Debug)]
struct Tensor<'a> {
    name: &'a str,
    dtype: Option<DType>,
    shape: Vec<usize>,
    /// Nothing for a tensor that is computed.
    data: Option<&'a [u8]>,
    scales: &'a [u8],
    zeros: &'a [u8],
    /// How many scales and zeros there are.
    counts: [usize; 2],
}

impl<'a> TfLite<'a> {
    /// Reads the tables and checks that every tensor has as many bytes as its shape says.
    ///
    /// # Errors
    /// [`ErrorKind::Format`] with what is wrong and, where one is to blame, the tensor's name.
    pub fn new(bytes: &'a [u8]) -> Result<TfLite<'a>, Error> {
        if bytes.get(4..8) != Some(b"TFL3") {
            return Err(format_error("it has no `TFL3` at byte 4, where every TensorFlow Lite file has it"));
        }
        let cut = |outside: Outside| {
            let (at, len) = (outside.at, bytes.len());
            format_error(format!(
                "the file is cut off or damaged: what should be at byte {at} is not in its {len} bytes"
            ))
        };
        let model = Table::root(bytes).map_err(cut)?;
        // Model: 2 subgraphs, 4 buffers.
        let graph = model.tables(2).map_err(cut)?.next();
        let graph = graph.ok_or_else(|| format_error("the file holds no graph"))?.map_err(cut)?;
        let buffers: Vec<Table<'a>> = model.tables(4).map_err(cut)?.collect::<Result<_, _>>().map_err(cut)?;
        // SubGraph: 0 tensors, 1 inputs, 2 outputs.
        let tables = graph.tables(0).map_err(cut)?;
        let mut tensors = Vec::with_capacity(tables.len());
        for table in tables {
            tensors.push(Tensor::read(&table.map_err(cut)?, &buffers, bytes, cut)?);
        }
        let indices = |field| {
            let list = graph.vector(field, 4).map_err(cut)?;
            let indices: Option<Vec<usize>> = list.as_chunks().0.iter().map(|at| index(*at)).collect();
            let fits = |indices: &Vec<usize>| indices.iter().all(|at| *at < tensors.len());
            indices
                .filter(fits)
                .ok_or_else(|| format_error("the graph names an input or an output that it does not have"))
        };
        let (inputs, outputs) = (indices(1)?, indices(2)?);
        Ok(TfLite { tensors, inputs, outputs })
    }

    /// The indices of the graph's inputs.
    pub fn inputs(&self) -> &[usize] {
        &self.inputs
    }

    /// The indices of the graph's outputs.
    pub fn outputs(&self) -> &[usize] {
        &self.outputs
    }

    /// The element type of a tensor, unless it is one that no model has or there is no such tensor.
    pub fn dtype(&self, index: usize) -> Option<DType> {
        self.tensors.get(index)?.dtype
    }

    /// The extents of a tensor.
    pub fn shape(&self, index: usize) -> Option<&[usize]> {
        self.tensors.get(index).map(|tensor| tensor.shape.as_slice())
    }

    /// The scale and the zero point of a tensor that has one of each.
    pub fn quantization(&self, index: usize) -> Option<(f32, i64)> {
        let tensor = self.tensors.get(index)?;
        let (scale, zero) = (tensor.scales.try_into().ok()?, tensor.zeros.try_into().ok()?);
        Some((f32::from_le_bytes(scale), i64::from_le_bytes(zero)))
    }

    /// A tensor by name or index.
    fn tensor(&self, key: &str) -> Option<&Tensor<'a>> {
        let named = self.tensors.iter().find(|tensor| tensor.name == key);
        named.or_else(|| self.tensors.get(key.parse::<usize>().ok()?))
    }
}

impl WeightSource for TfLite<'_> {
    fn find(&self, name: &str) -> Result<Option<Weight<'_>>, Error> {
        if let Some(tensor) = self.tensor(name) {
            let weight = |bytes| Weight { dtype: tensor.dtype, shape: &tensor.shape, bytes };
            return Ok(tensor.data.map(weight));
        }
        let of = |suffix| name.strip_suffix(suffix).and_then(|key| self.tensor(key));
        Ok(match (of(".scale"), of(".zero")) {
            (Some(tensor), _) => parameters(DType::F32, tensor.scales, &tensor.counts[..1]),
            (_, Some(tensor)) => parameters(DType::I64, tensor.zeros, &tensor.counts[1..]),
            _ => None,
        })
    }

    fn names(&self, visit: &mut dyn FnMut(&str)) {
        let held = self.tensors.iter().filter(|tensor| tensor.data.is_some());
        held.for_each(|tensor| visit(tensor.name));
    }
}

/// One is a scalar, several are a vector, none are no weight.
fn parameters<'a>(dtype: DType, bytes: &'a [u8], count: &'a [usize]) -> Option<Weight<'a>> {
    let shape = if *count == [1] { &[] } else { count };
    (*count != [0]).then_some(Weight { dtype: Some(dtype), shape, bytes })
}

fn index(bytes: [u8; 4]) -> Option<usize> {
    usize::try_from(i32::from_le_bytes(bytes)).ok()
}

fn format_error(text: impl Into<String>) -> Error {
    ErrorKind::Format(text.into()).into()
}

impl<'a> Tensor<'a> {
    fn read(
        table: &Table<'a>,
        buffers: &[Table<'a>],
        file: &'a [u8],
        cut: impl Fn(Outside) -> Error,
    ) -> Result<Tensor<'a>, Error> {
        // Tensor: 0 shape, 1 type, 2 buffer, 3 name, 4 quantization.
        let name = core::str::from_utf8(table.vector(3, 1).map_err(&cut)?);
        let name = name.map_err(|_| format_error("a tensor's name is not UTF-8"))?;
        let wrong = |text: String| format_error(format!("tensor `{name}` {text}"));
        let dims = table.vector(0, 4).map_err(&cut)?.as_chunks().0;
        if dims.len() > MAX_DIMS {
            return Err(wrong(format!("has {} dimensions", dims.len())));
        }
        let shape: Option<Vec<usize>> = dims.iter().map(|dim| index(*dim)).collect();
        let shape = shape.ok_or_else(|| wrong("has a negative extent".to_string()))?;
        let [code] = table.scalar(1).map_err(&cut)?;
        let at = u32::from_le_bytes(table.scalar(2).map_err(&cut)?) as usize;
        let buffer = buffers.get(at).ok_or_else(|| wrong(format!("is in buffer {at} of {}", buffers.len())))?;
        let data = bytes_of(buffer, file).map_err(&cut)?;
        let elements =
            if shape.contains(&0) { Some(0) } else { shape.iter().try_fold(1usize, |n, dim| n.checked_mul(*dim)) };
        if let (Some(data), Some(size)) = (data, element_size(code)) {
            let needed = elements.and_then(|elements| elements.checked_mul(size));
            if needed != Some(data.len()) {
                let needed =
                    needed.map_or("more bytes than there can be".to_string(), |needed| format!("{needed} bytes"));
                return Err(wrong(format!("needs {needed} and the file gives it {}", data.len())));
            }
        }
        // QuantizationParameters: 2 scale, 3 zero_point.
        let (mut scales, mut zeros): (&[u8], &[u8]) = (&[], &[]);
        if let Some(quantization) = table.table(4).map_err(&cut)? {
            scales = quantization.vector(2, 4).map_err(&cut)?;
            zeros = quantization.vector(3, 8).map_err(&cut)?;
        }
        let counts = [scales.len() / 4, zeros.len() / 8];
        Ok(Tensor { name, dtype: dtype(code), shape, data, scales, zeros, counts })
    }
}

/// Buffer: 0 data, or, in files of more than 2 GiB, 1 offset and 2 size of what lies behind the tables. A buffer without
/// either is that of a tensor that is computed.
fn bytes_of<'a>(buffer: &Table<'a>, file: &'a [u8]) -> Result<Option<&'a [u8]>, Outside> {
    let data = buffer.vector(0, 1)?;
    let [offset, size] = [buffer.scalar(1)?, buffer.scalar(2)?].map(u64::from_le_bytes);
    if !data.is_empty() || offset < 2 {
        return Ok((!data.is_empty()).then_some(data));
    }
    let at = usize::try_from(offset).unwrap_or(usize::MAX);
    let end = usize::try_from(size).ok().and_then(|size| at.checked_add(size));
    end.and_then(|end| file.get(at..end)).ok_or(Outside { at }).map(Some)
}

/// `TensorType`, as far as models have it.
fn dtype(code: u8) -> Option<DType> {
    Some(match code {
        0 => DType::F32,
        1 => DType::F16,
        2 => DType::I32,
        3 => DType::U8,
        4 => DType::I64,
        6 => DType::Bool,
        9 => DType::I8,
        15 => DType::U32,
        18 => DType::BF16,
        _ => return None,
    })
}

/// Bytes of an element of the types whose size is certain.
fn element_size(code: u8) -> Option<usize> {
    match code {
        // i16 and u16.
        7 | 16 => Some(2),
        // Complex numbers, f64 and u64.
        8 | 10 | 12 => Some(8),
        _ => dtype(code).map(DType::size),
    }
}
