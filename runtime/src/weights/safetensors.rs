//! Weights from the bytes of a safetensors file.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use ::safetensors::tensor::TensorView;
use ::safetensors::{Dtype, SafeTensors as File};

use super::{Weight, WeightSource};
use crate::{DType, Error, ErrorKind};

/// A safetensors file, read from bytes that may lie at any address.
#[derive(Debug)]
pub struct SafeTensors<'a> {
    /// In the order of their names.
    tensors: Vec<(String, TensorView<'a>)>,
}

impl<'a> SafeTensors<'a> {
    /// Reads the header and checks that the file holds what it says.
    ///
    /// # Errors
    /// [`ErrorKind::Format`] with what is wrong and, where one is to blame, the tensor's name.
    pub fn new(bytes: &'a [u8]) -> Result<SafeTensors<'a>, Error> {
        match File::deserialize(bytes) {
            Ok(file) => {
                let mut tensors = file.tensors();
                tensors.sort_by(|left, right| left.0.cmp(&right.0));
                Ok(SafeTensors { tensors })
            }
            Err(error) => Err(ErrorKind::Format(diagnose(bytes).unwrap_or_else(|| error.to_string())).into()),
        }
    }
}

impl WeightSource for SafeTensors<'_> {
    fn find(&self, name: &str) -> Result<Option<Weight<'_>>, Error> {
        let Ok(at) = self.tensors.binary_search_by(|(known, _)| known.as_str().cmp(name)) else { return Ok(None) };
        let view = &self.tensors[at].1;
        let dtype = match view.dtype() {
            Dtype::F32 => Some(DType::F32),
            Dtype::F16 => Some(DType::F16),
            Dtype::BF16 => Some(DType::BF16),
            Dtype::I8 => Some(DType::I8),
            Dtype::U8 => Some(DType::U8),
            Dtype::I32 => Some(DType::I32),
            Dtype::U32 => Some(DType::U32),
            Dtype::I64 => Some(DType::I64),
            Dtype::BOOL => Some(DType::Bool),
            _ => None,
        };
        Ok(Some(Weight { dtype, shape: view.shape(), bytes: view.data() }))
    }

    fn names(&self, visit: &mut dyn FnMut(&str)) {
        for (name, _) in &self.tensors {
            visit(name);
        }
    }
}

/// What is wrong with a file that the parser rejects, when it is a tensor's fault.
fn diagnose(bytes: &[u8]) -> Option<String> {
    let length = bytes.first_chunk().map(|length| u64::from_le_bytes(*length));
    let length = usize::try_from(length?).ok()?;
    let header = bytes.get(8..length.checked_add(8)?);
    let Some(header) = header else {
        return Some(format!("the header is said to have {length} bytes and the file ends before that"));
    };
    let header: serde_json::Value = serde_json::from_slice(header).ok()?;
    let data = bytes.len() - 8 - length;
    let mut complaints = String::new();
    for (name, entry) in header.as_object()? {
        let number = |value: &serde_json::Value| value.as_u64().and_then(|number| usize::try_from(number).ok());
        let Some(offsets) = entry.get("data_offsets").and_then(|offsets| offsets.as_array()) else { continue };
        let (Some(start), Some(end)) = (offsets.first().and_then(number), offsets.get(1).and_then(number)) else {
            continue;
        };
        let shape = entry.get("shape").and_then(|shape| shape.as_array());
        let elements = shape.and_then(|shape| shape.iter().map(number).try_fold(1usize, |n, d| n.checked_mul(d?)));
        let size = entry.get("dtype").and_then(|dtype| dtype.as_str()).and_then(bytes_of);
        let needs = elements.zip(size).and_then(|(elements, size)| elements.checked_mul(size));
        let separator = if complaints.is_empty() { "" } else { "; " };
        if needs.is_some_and(|needs| end.checked_sub(start) != Some(needs)) {
            let (needs, given) = (needs.unwrap_or(0), end.saturating_sub(start));
            complaints += &format!("{separator}tensor `{name}` needs {needs} bytes and the file gives it {given}");
        } else if end > data {
            let missing = end - data.max(start);
            complaints += &format!("{separator}the file is cut off: {missing} bytes of tensor `{name}` are missing");
        }
    }
    (!complaints.is_empty()).then_some(complaints)
}

fn bytes_of(dtype: &str) -> Option<usize> {
    match dtype {
        "BOOL" | "U8" | "I8" | "F8_E4M3" | "F8_E5M2" => Some(1),
        "U16" | "I16" | "F16" | "BF16" => Some(2),
        "U32" | "I32" | "F32" => Some(4),
        "U64" | "I64" | "F64" => Some(8),
        _ => None,
    }
}
