//! Element types: their names, sizes and alignments. How elements are computed with is the kernels' business.

use core::fmt;

/// The type of a tensor's elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum DType {
    /// IEEE 754 binary32.
    F32,
    /// IEEE 754 binary16.
    F16,
    /// The upper half of an `f32`.
    BF16,
    /// Signed 8-bit integer.
    I8,
    /// Unsigned 8-bit integer.
    U8,
    /// Signed 32-bit integer.
    I32,
    /// Unsigned 32-bit integer.
    U32,
    /// Signed 64-bit integer.
    I64,
    /// One byte, 0 or 1.
    Bool,
    /// Weights in blocks of 32 along the last dimension, as ggml lays them: an `f16` scale, then 32 signed bytes; an
    /// element is `scale * byte`.
    Q8_0,
    /// Weights in blocks of 32 along the last dimension, as ggml lays them: an `f16` scale, then 16 bytes, whose low
    /// halves are the first 16 elements and whose high halves the others; an element is `scale * (half - 8)`.
    Q4_0,
}

impl DType {
    /// Every element type, in the order of the documentation.
    pub const ALL: [DType; 11] = [
        DType::F32,
        DType::F16,
        DType::BF16,
        DType::I8,
        DType::U8,
        DType::I32,
        DType::U32,
        DType::I64,
        DType::Bool,
        DType::Q8_0,
        DType::Q4_0,
    ];

    /// Bytes per element, or per block of [`DType::block`] elements.
    pub const fn size(self) -> usize {
        match self {
            DType::Q8_0 => 34,
            DType::Q4_0 => 18,
            DType::I8 | DType::U8 | DType::Bool => 1,
            DType::F16 | DType::BF16 => 2,
            DType::F32 | DType::I32 | DType::U32 => 4,
            DType::I64 => 8,
        }
    }

    /// The alignment an element or block needs, in bytes.
    pub const fn align(self) -> usize {
        match self {
            DType::Q8_0 | DType::Q4_0 => 2,
            _ => self.size(),
        }
    }

    /// How many elements lie in one block; 1 where each lies by itself.
    pub const fn block(self) -> usize {
        match self {
            DType::Q8_0 | DType::Q4_0 => 32,
            _ => 1,
        }
    }

    /// True for weights in blocks.
    pub const fn is_quantised(self) -> bool {
        self.block() > 1
    }

    /// True for `f32`, `f16` and `bf16`.
    pub const fn is_float(self) -> bool {
        matches!(self, DType::F32 | DType::F16 | DType::BF16)
    }

    /// True for `f16` and `bf16`, which are computed with in `f32`.
    pub const fn is_half(self) -> bool {
        matches!(self, DType::F16 | DType::BF16)
    }

    /// True for integers.
    pub const fn is_integer(self) -> bool {
        self.range().is_some()
    }

    /// The smallest and the largest value of an integer type.
    pub const fn range(self) -> Option<(i64, i64)> {
        match self {
            DType::I8 => Some((i8::MIN as i64, i8::MAX as i64)),
            DType::U8 => Some((0, u8::MAX as i64)),
            DType::I32 => Some((i32::MIN as i64, i32::MAX as i64)),
            DType::U32 => Some((0, u32::MAX as i64)),
            DType::I64 => Some((i64::MIN, i64::MAX)),
            _ => None,
        }
    }

    /// The name in the language, such as `f32`.
    pub const fn name(self) -> &'static str {
        match self {
            DType::F32 => "f32",
            DType::F16 => "f16",
            DType::BF16 => "bf16",
            DType::I8 => "i8",
            DType::U8 => "u8",
            DType::I32 => "i32",
            DType::U32 => "u32",
            DType::I64 => "i64",
            DType::Bool => "bool",
            DType::Q8_0 => "q8_0",
            DType::Q4_0 => "q4_0",
        }
    }

    /// The name of the variant in Rust, such as `F32`.
    pub const fn variant(self) -> &'static str {
        match self {
            DType::F32 => "F32",
            DType::F16 => "F16",
            DType::BF16 => "BF16",
            DType::I8 => "I8",
            DType::U8 => "U8",
            DType::I32 => "I32",
            DType::U32 => "U32",
            DType::I64 => "I64",
            DType::Bool => "Bool",
            DType::Q8_0 => "Q8_0",
            DType::Q4_0 => "Q4_0",
        }
    }

    /// The element type of that name.
    pub fn from_name(name: &str) -> Option<DType> {
        DType::ALL.into_iter().find(|dtype| dtype.name() == name)
    }
}

impl fmt::Display for DType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
