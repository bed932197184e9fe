//! Loop nests over strided operands: dimensions that run on are merged, and offsets are kept by counters, so that no
//! element costs a division.

use crate::MAX_RANK;

/// Nested loops over `N` operands.
#[derive(Clone, Copy, Debug)]
pub(super) struct Nest<const N: usize> {
    rank: usize,
    dims: [usize; MAX_RANK],
    /// By dimension, then by operand.
    strides: [[usize; N]; MAX_RANK],
}

impl<const N: usize> Nest<N> {
    /// The loops over `dims`, given each operand's strides. Dimensions of extent 1 are dropped, and neighbours that all
    /// operands walk as one are merged; the order of the elements stays.
    pub(super) fn new(dims: &[usize], strides: [&[usize]; N]) -> Nest<N> {
        let mut nest = Nest { rank: 0, dims: [1; MAX_RANK], strides: [[0; N]; MAX_RANK] };
        for (axis, &dim) in dims.iter().enumerate() {
            if dim == 1 {
                continue;
            }
            let inner = strides.map(|strides| strides[axis]);
            if let Some(last) = nest.rank.checked_sub(1)
                && (0..N).all(|operand| nest.strides[last][operand] == inner[operand].wrapping_mul(dim))
            {
                nest.dims[last] *= dim;
                nest.strides[last] = inner;
            } else {
                nest.dims[nest.rank] = dim;
                nest.strides[nest.rank] = inner;
                nest.rank += 1;
            }
        }
        nest
    }

    /// Extent and strides of the innermost loop; one round when there is none.
    pub(super) fn row(&self) -> (usize, [usize; N]) {
        match self.rank {
            0 => (1, [0; N]),
            rank => (self.dims[rank - 1], self.strides[rank - 1]),
        }
    }

    /// The operands' offsets at the start of the innermost loop with that number.
    pub(super) fn row_at(&self, mut row: usize) -> [usize; N] {
        let mut at = [0; N];
        for axis in (0..self.rank.saturating_sub(1)).rev() {
            let index = row % self.dims[axis];
            row /= self.dims[axis];
            for (at, stride) in at.iter_mut().zip(self.strides[axis]) {
                *at += index * stride;
            }
        }
        at
    }

    /// Calls `body` with the operands' offsets at the start of every innermost loop.
    #[inline(always)]
    pub(super) fn rows(&self, body: impl FnMut([usize; N])) {
        self.walk(self.rank.saturating_sub(1), body);
    }

    /// Calls `body` with the operands' offsets of every element.
    #[inline(always)]
    pub(super) fn each(&self, body: impl FnMut([usize; N])) {
        self.walk(self.rank, body);
    }

    #[inline(always)]
    fn walk(&self, depth: usize, mut body: impl FnMut([usize; N])) {
        if self.dims[..self.rank].contains(&0) {
            return;
        }
        let mut at = [0; N];
        let mut index = [0; MAX_RANK];
        loop {
            body(at);
            let mut axis = depth;
            loop {
                if axis == 0 {
                    return;
                }
                axis -= 1;
                index[axis] += 1;
                for (at, stride) in at.iter_mut().zip(self.strides[axis]) {
                    *at += stride;
                }
                if index[axis] < self.dims[axis] {
                    break;
                }
                for (at, stride) in at.iter_mut().zip(self.strides[axis]) {
                    *at -= stride * self.dims[axis];
                }
                index[axis] = 0;
            }
        }
    }
}
