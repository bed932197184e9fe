//! Elements that Rust has no type of its own for: truth values, and blocks of quantised weights with their conversions.
//! Halves are those of the crate `half`.

use bytemuck::{Pod, Zeroable};
use half::f16;

use crate::{Error, ErrorKind};

/// A truth value in a tensor: one byte, 0 or 1. A byte from elsewhere that is not 0 is true.
#[derive(Clone, Copy, Default)]
#[repr(transparent)]
pub struct Bool(u8);

impl Bool {
    /// `false`.
    pub const FALSE: Bool = Bool(0);
    /// `true`.
    pub const TRUE: Bool = Bool(1);

    /// The value.
    pub const fn get(self) -> bool {
        self.0 != 0
    }
}

impl From<bool> for Bool {
    fn from(value: bool) -> Bool {
        Bool(value as u8)
    }
}

impl From<Bool> for bool {
    fn from(value: Bool) -> bool {
        value.get()
    }
}

impl PartialEq for Bool {
    fn eq(&self, other: &Bool) -> bool {
        self.get() == other.get()
    }
}

impl Eq for Bool {}

impl core::fmt::Debug for Bool {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        self.get().fmt(f)
    }
}

/// Elements of a block of quantised weights.
pub const BLOCK: usize = 32;

/// 32 weights of a `q8_0` tensor: element `i` is `scale * values[i]`.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[repr(C)]
pub struct BlockQ8_0 {
    /// What the values are multiplied with.
    pub scale: f16,
    /// From -127 to 127.
    pub values: [i8; BLOCK],
}

/// 32 weights of a `q4_0` tensor: element `i` is `scale * (n - 8)`, with `n` the low half of `values[i]` for the first 16
/// and the high half of `values[i - 16]` for the others.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[repr(C)]
pub struct BlockQ4_0 {
    /// What the values are multiplied with.
    pub scale: f16,
    /// Two of them in each byte.
    pub values: [u8; BLOCK / 2],
}

// SAFETY: a `u8` in a transparent struct; all zeros is a `u8`.
unsafe impl Zeroable for Bool {}
// SAFETY: a `u8` in a transparent struct: every byte is one, there is no padding, and it holds no pointer.
unsafe impl Pod for Bool {}
// SAFETY: its fields are `Zeroable`.
unsafe impl Zeroable for BlockQ8_0 {}
// SAFETY: `repr(C)` of `Pod` fields; 2 bytes aligned to 2 and 32 bytes aligned to 1 leave no padding in 34 bytes, which
// `LAYOUT` holds the compiler to.
unsafe impl Pod for BlockQ8_0 {}
// SAFETY: its fields are `Zeroable`.
unsafe impl Zeroable for BlockQ4_0 {}
// SAFETY: as above, with 16 bytes behind the scale and 18 in all.
unsafe impl Pod for BlockQ4_0 {}

const LAYOUT: () = assert!(size_of::<BlockQ8_0>() == 34 && size_of::<BlockQ4_0>() == 18);

/// 32 weights in a block.
pub trait Block: Pod {
    /// The weights.
    fn dequantise(&self) -> [f32; BLOCK];
    /// The block whose weights are nearest, by ggml's reference formula.
    fn quantise(weights: &[f32; BLOCK]) -> Self;
}

impl Block for BlockQ8_0 {
    #[inline(always)]
    fn dequantise(&self) -> [f32; BLOCK] {
        let () = LAYOUT;
        let scale = self.scale.to_f32();
        self.values.map(|value| scale * f32::from(value))
    }

    /// `scale = max |x| / 127`, values rounded to the nearest, away from zero of two.
    fn quantise(weights: &[f32; BLOCK]) -> BlockQ8_0 {
        let largest = weights.iter().fold(0.0f32, |most, weight| most.max(weight.abs()));
        let scale = largest / 127.0;
        let inverse = if scale != 0.0 { 1.0 / scale } else { 0.0 };
        BlockQ8_0 { scale: f16::from_f32(scale), values: weights.map(|weight| libm::roundf(weight * inverse) as i8) }
    }
}

impl Block for BlockQ4_0 {
    #[inline(always)]
    fn dequantise(&self) -> [f32; BLOCK] {
        let scale = self.scale.to_f32();
        core::array::from_fn(|index| {
            let byte = self.values[index % (BLOCK / 2)];
            let half = if index < BLOCK / 2 { byte & 15 } else { byte >> 4 };
            scale * f32::from(half as i8 - 8)
        })
    }

    /// `scale = x / -8` with the `x` of the largest magnitude, values `x / scale + 8.5` cut off, at most 15.
    fn quantise(weights: &[f32; BLOCK]) -> BlockQ4_0 {
        let largest =
            weights.iter().fold(0.0f32, |most, weight| if weight.abs() > most.abs() { *weight } else { most });
        let scale = largest / -8.0;
        let inverse = if scale != 0.0 { 1.0 / scale } else { 0.0 };
        let half = |weight: f32| ((weight * inverse + 8.5) as u8).min(15);
        let values = core::array::from_fn(|index| half(weights[index]) | half(weights[index + BLOCK / 2]) << 4);
        BlockQ4_0 { scale: f16::from_f32(scale), values }
    }
}

/// Fills the blocks of a matrix from its weights, `columns` in each row. The last block of a row is filled up with zeros.
///
/// # Errors
/// [`ErrorKind::Length`] unless `weights` are whole rows and `blocks` are as many as they take; nothing is then written.
pub fn quantise<B: Block>(weights: &[f32], columns: usize, blocks: &mut [B]) -> Result<(), Error> {
    let per_row = check(weights.len(), columns, blocks.len())?;
    for (row, blocks) in weights.chunks_exact(columns.max(1)).zip(blocks.chunks_exact_mut(per_row.max(1))) {
        for (weights, block) in row.chunks(BLOCK).zip(blocks) {
            let mut whole = [0.0; BLOCK];
            whole[..weights.len()].copy_from_slice(weights);
            *block = B::quantise(&whole);
        }
    }
    Ok(())
}

/// The weights of a matrix in blocks, `columns` in each row.
///
/// # Errors
/// As [`quantise`].
pub fn dequantise<B: Block>(blocks: &[B], columns: usize, weights: &mut [f32]) -> Result<(), Error> {
    let per_row = check(weights.len(), columns, blocks.len())?;
    for (row, blocks) in weights.chunks_exact_mut(columns.max(1)).zip(blocks.chunks_exact(per_row.max(1))) {
        for (weights, block) in row.chunks_mut(BLOCK).zip(blocks) {
            weights.copy_from_slice(&block.dequantise()[..weights.len()]);
        }
    }
    Ok(())
}

/// Blocks in a row, if the counts fit.
fn check(weights: usize, columns: usize, blocks: usize) -> Result<usize, Error> {
    let per_row = columns.div_ceil(BLOCK);
    let rows = weights.checked_div(columns).unwrap_or(0);
    let expected = rows * columns;
    if expected != weights {
        return Err(ErrorKind::Length { expected, given: weights }.into());
    }
    if rows * per_row != blocks {
        return Err(ErrorKind::Length { expected: rows * per_row, given: blocks }.into());
    }
    Ok(per_row)
}
