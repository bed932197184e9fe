//! Reads the checkpoints and tokenizers of llama2.c (version 0 of the format: a header of seven numbers, then all weights
//! as `f32`). Knows nothing of the model that they are for but the names of its weights.

use std::fmt;
use std::ops::Range;

use model_graph::{DType, Error, Weight, WeightSource};

/// What the header of a checkpoint says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Config {
    /// Width of the residual stream.
    pub dim: usize,
    /// Width between the two halves of the feed-forward network.
    pub hidden: usize,
    /// Number of layers.
    pub layers: usize,
    /// Number of query heads.
    pub heads: usize,
    /// Number of key and value heads.
    pub kv_heads: usize,
    /// Number of tokens that there are.
    pub vocab: usize,
    /// Longest sequence it was trained on.
    pub context: usize,
}

/// What is wrong with a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Malformed(pub(super) String);

impl fmt::Display for Malformed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Malformed {}

/// A checkpoint in memory, as a source of weights named `embedding`, `layers.N.…`, `final_norm`.
#[derive(Debug)]
pub struct Checkpoint<'a> {
    /// Its header.
    pub config: Config,
    bytes: &'a [u8],
    tensors: Vec<Tensor>,
}

#[derive(Debug)]
struct Tensor {
    name: String,
    shape: Vec<usize>,
    range: Range<usize>,
}

const HEADER: usize = 28;

impl<'a> Checkpoint<'a> {
    /// Reads the header and finds every weight.
    ///
    /// # Errors
    /// When the file is none of this format, is shorter or longer than its header asks for, or has its classifier apart from the
    /// embedding, which `Stories` has not.
    pub fn new(bytes: &'a [u8]) -> Result<Checkpoint<'a>, Malformed> {
        let header = bytes.get(..HEADER).ok_or_else(|| {
            Malformed(format!("a checkpoint starts with a header of {HEADER} bytes; this file has {}", bytes.len()))
        })?;
        let mut numbers = [0usize; 7];
        for (index, (number, word)) in numbers.iter_mut().zip(header.chunks_exact(4)).enumerate() {
            let value = i32::from_le_bytes([word[0], word[1], word[2], word[3]]);
            if index == 5 && value < 0 {
                return Err(Malformed(String::from("the classifier of this checkpoint is not its embedding table")));
            }
            *number = usize::try_from(value)
                .ok()
                .filter(|value| (1..1 << 24).contains(value))
                .ok_or_else(|| Malformed(format!("number {index} of the header is {value}; is this a checkpoint?")))?;
        }
        let [dim, hidden, layers, heads, kv_heads, vocab, context] = numbers;
        if !dim.is_multiple_of(heads) || !heads.is_multiple_of(kv_heads) || layers > 1024 {
            let text =
                format!("a width of {dim} in {heads} heads, {kv_heads} for keys, and {layers} layers fit no model");
            return Err(Malformed(text));
        }
        let config = Config { dim, hidden, layers, heads, kv_heads, vocab, context };
        let kv = dim / heads * kv_heads;
        let mut checkpoint = Checkpoint { config, bytes, tensors: Vec::new() };
        let mut at = HEADER;
        checkpoint.add(&mut at, String::from("embedding"), &[vocab, dim])?;
        // Each kind of weight stands there for all layers, one after the other.
        for (kind, shape) in [
            ("attention_norm", &[dim][..]),
            ("wq", &[dim, dim]),
            ("wk", &[kv, dim]),
            ("wv", &[kv, dim]),
            ("wo", &[dim, dim]),
            ("forward_norm", &[dim]),
            ("w1", &[hidden, dim]),
            ("w2", &[dim, hidden]),
            ("w3", &[hidden, dim]),
        ] {
            for layer in 0..layers {
                checkpoint.add(&mut at, format!("layers.{layer}.{kind}"), shape)?;
            }
        }
        checkpoint.add(&mut at, String::from("final_norm"), &[dim])?;
        // Tables of the rotations may follow, which are worked out here.
        let (rest, tables) = (bytes.len() - at, context * (dim / heads) * 4);
        if rest != 0 && rest != tables {
            return Err(Malformed(format!(
                "the file has {rest} bytes behind its last weight; there may be none or {tables}"
            )));
        }
        Ok(checkpoint)
    }

    fn add(&mut self, at: &mut usize, name: String, shape: &[usize]) -> Result<(), Malformed> {
        let bytes = shape.iter().try_fold(4usize, |bytes, extent| bytes.checked_mul(*extent));
        let end = bytes.and_then(|bytes| at.checked_add(bytes)).filter(|end| *end <= self.bytes.len());
        let Some(end) = end else {
            return Err(Malformed(format!(
                "the file ends after {} bytes, within `{name}`, which is {shape:?} and starts at {at}",
                self.bytes.len()
            )));
        };
        self.tensors.push(Tensor { name, shape: shape.to_vec(), range: *at..end });
        *at = end;
        Ok(())
    }
}

impl WeightSource for Checkpoint<'_> {
    fn find(&self, name: &str) -> Result<Option<Weight<'_>>, Error> {
        Ok(self.tensors.iter().find(|tensor| tensor.name == name).map(|tensor| Weight {
            dtype: Some(DType::F32),
            shape: &tensor.shape,
            bytes: &self.bytes[tensor.range.clone()],
        }))
    }

    fn names(&self, visit: &mut dyn FnMut(&str)) {
        self.tensors.iter().for_each(|tensor| visit(&tensor.name));
    }
}
