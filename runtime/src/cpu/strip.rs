//! The keys or values of a head as matrices of `f32`: those of `f32` all at once and as they lie, halves a strip at a time,
//! unpacked in working space. It knows nothing of attention.

use core::ops::Range;

use super::gemm::{Dots, LANES, Matrix, add_dots, join};
use super::operands::Input;
use super::typed::Element;
use super::wide::wide;
use crate::{DType, Error, View, bf16, f16, op};

/// Elements of a column of halves that are unpacked at a time: a multiple of the lanes.
const RUN: usize = 256;

/// Rows in memory, of one of the types that are read as they lie.
#[derive(Clone, Copy)]
pub(super) enum Rows<'a> {
    F32(&'a [f32]),
    F16(&'a [f16]),
    BF16(&'a [bf16]),
}

/// A part of them that starts somewhere.
#[derive(Clone, Copy)]
pub(super) struct Lying<'a> {
    pub(super) rows: Rows<'a>,
    /// The first element.
    pub(super) at: usize,
    /// Distance between rows.
    pub(super) row: usize,
    /// Distance between columns.
    pub(super) column: usize,
}

impl<'a> Rows<'a> {
    /// The elements of an operand, or `None` where it has none.
    ///
    /// # Errors
    /// [`crate::ErrorKind::Misaligned`].
    pub(super) fn new(input: Input<'a, u8>, view: &View) -> Result<Option<Rows<'a>>, Error> {
        Ok(match view.dtype {
            DType::F16 => input.of()?.slice().map(Rows::F16),
            DType::BF16 => input.of()?.slice().map(Rows::BF16),
            _ => input.of()?.slice().map(Rows::F32),
        })
    }
}

impl Lying<'_> {
    /// Gives `each` rows `0 .. count` of `width` elements as matrices, with the numbers of their rows: all of them where
    /// they are `f32`, and strips of halves, unpacked to `strip`. These lie row by row, or column by column: then the
    /// distance between columns is [`op::Attention::STRIP`] and the one between a column's elements 1.
    #[inline(always)]
    pub(super) fn strips(
        self,
        [count, width]: [usize; 2],
        by_row: bool,
        strip: &mut [f32],
        mut each: impl FnMut(Range<usize>, Matrix<'_>),
    ) {
        if count == 0 {
            return;
        }
        if let Rows::F32(all) = self.rows {
            return each(0..count, Matrix { data: &all[self.at..], row: self.row, column: self.column });
        }
        let length = op::Attention::STRIP;
        // A matrix whose rows are at a distance of 1 is one of columns.
        let (row, column) = if by_row { (width.max(2), 1) } else { (1, length) };
        for start in (0..count).step_by(length) {
            let rows = start..count.min(start + length);
            let from = Lying { at: self.at + start * self.row, ..self };
            if by_row {
                for (index, to) in strip.chunks_exact_mut(row).take(rows.len()).enumerate() {
                    from.unpack(index * self.row, self.column, &mut to[..width]);
                }
            } else {
                for (index, to) in strip.chunks_exact_mut(column).take(width).enumerate() {
                    from.unpack(index * self.column, self.row, &mut to[..rows.len()]);
                }
            }
            each(rows, Matrix { data: strip, row, column });
        }
    }

    /// Copies elements at a distance of `step` to where they lie side by side. `at` is told from the first element on.
    #[inline(always)]
    fn unpack(self, at: usize, step: usize, to: &mut [f32]) {
        match self.rows {
            Rows::F32(all) => Element::load(all, self.at + at, step, to),
            Rows::F16(all) => Element::load(all, self.at + at, step, to),
            Rows::BF16(all) => Element::load(all, self.at + at, step, to),
        }
    }
}

wide! {
    /// `c += a b` for a packed `c` of `width` columns, halves whose columns lie side by side in memory, and at most
    /// [`op::Attention::ROWS`] rows of `a`, at a distance of `n`. Row `i` of `a` has `sees + i` elements, and no more
    /// than `n`. Each element of `c` is a dot product with the bits of [`super::gemm::gemm`]'s.
    pub(super) fn products(a: &[f32], n: usize, sees: usize, b: Lying<'_>, c: &mut [f32], width: usize) {
        if n == 0 {
            return;
        }
        let mut run = [0.0; RUN];
        for column in 0..width {
            let mut sums = [[0.0; LANES]; op::Attention::ROWS];
            for start in (0..n).step_by(RUN) {
                let run = &mut run[..RUN.min(n - start)];
                b.unpack(column * b.column + start * b.row, b.row, run);
                for (row, (a, sums)) in a.chunks_exact(n).zip(&mut sums).enumerate() {
                    let a = &a[start..n.min(sees + row).clamp(start, start + run.len())];
                    let mut dots: Dots<1, 1> = [[*sums]];
                    add_dots(&mut dots, [a], [&run[..a.len()]]);
                    *sums = dots[0][0];
                }
            }
            for (c, sums) in c[column..].iter_mut().step_by(width).zip(&sums) {
                *c += join(sums);
            }
        }
    }
}
