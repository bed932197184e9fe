//! Where a tensor's elements lie: an offset and strides inside one buffer.

use core::ops::Range;

use crate::{DType, MAX_RANK, Shape};

/// A tensor's place in the buffer. This is all that a kernel is told of an operand.
///
/// Element `[i, j, …]` lies at byte `offset + (i * strides[0] + j * strides[1] + …) * dtype.size()`. A tensor in blocks
/// is always packed: its blocks lie one after the other, row by row, each row in whole blocks, and strides say nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct View {
    /// Element type.
    pub dtype: DType,
    /// Byte at which element `[0, 0, …]` starts.
    pub offset: usize,
    /// Number of dimensions in use.
    pub rank: usize,
    /// Extents, outermost first; entries from `rank` on are 1.
    pub dims: [usize; MAX_RANK],
    /// Distance between neighbours along each dimension, in elements; entries from `rank` on are 0.
    pub strides: [usize; MAX_RANK],
}

impl View {
    /// The packed row-major tensor of that shape at `offset` bytes.
    pub fn packed(dtype: DType, offset: usize, shape: &Shape) -> View {
        View { dtype, offset, rank: shape.rank(), dims: shape.sizes(), strides: shape.strides() }
    }

    /// The extents in use.
    pub fn dims(&self) -> &[usize] {
        &self.dims[..self.rank]
    }

    /// The strides in use, in elements.
    pub fn strides(&self) -> &[usize] {
        &self.strides[..self.rank]
    }

    /// Number of elements.
    pub fn elements(&self) -> usize {
        if self.dims.contains(&0) { 0 } else { self.dims.iter().fold(1, |count, dim| count.saturating_mul(*dim)) }
    }

    /// Number of blocks that hold the elements; the number of elements where each lies by itself.
    pub fn blocks(&self) -> usize {
        let Some(last) = self.rank.checked_sub(1) else { return 1 };
        let mut stored = *self;
        stored.dims[last] = stored.dims[last].div_ceil(self.dtype.block());
        stored.elements()
    }

    /// True when the elements lie in row-major order without gaps.
    /// Strides of extents below two are never used, so they are not looked at.
    pub fn is_packed(&self) -> bool {
        if self.dims.contains(&0) {
            return true;
        }
        let mut expected = 1usize;
        for axis in (0..self.rank).rev() {
            if self.dims[axis] > 1 {
                if self.strides[axis] != expected {
                    return false;
                }
                expected = expected.saturating_mul(self.dims[axis]);
            }
        }
        true
    }

    /// The bytes from the first element's start to the last one's end; empty for a tensor without elements. What would go
    /// beyond the last address ends there.
    pub fn span(&self) -> Range<usize> {
        if self.dims.contains(&0) {
            return self.offset..self.offset;
        }
        if self.dtype.is_quantised() {
            return self.offset..self.offset.saturating_add(self.blocks().saturating_mul(self.dtype.size()));
        }
        let reach = |axis: usize| (self.dims[axis] - 1).saturating_mul(self.strides[axis]);
        let last = (0..self.rank).fold(0usize, |last, axis| last.saturating_add(reach(axis)));
        let len = last.saturating_add(1).saturating_mul(self.dtype.size());
        self.offset..self.offset.saturating_add(len)
    }

    /// True when both address the same elements in the same order.
    pub fn same_elements(&self, other: &View) -> bool {
        self.dtype == other.dtype
            && self.offset == other.offset
            && self.rank == other.rank
            && self.dims == other.dims
            && (0..self.rank).all(|axis| self.dims[axis] < 2 || self.strides[axis] == other.strides[axis])
    }
}
