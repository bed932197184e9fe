//! Softmax and its logarithm along any axis of a packed tensor, in place or not.
//!
//! With `m` the largest of a row, `softmax = exp(x - m) / Σ exp(x - m)` and `log_softmax = (x - m) - ln Σ exp(x - m)`.
//! A row of nothing but -∞ has no such `m`; it gives zeros, and -∞ for the logarithm. A NaN or a +∞ in a row makes all
//! of it NaN, as the formula says.

use super::operands::{Input, Operands, operands};
use super::sum::{largest, sum};
use super::wide::wide;
use super::{CpuBuffer, Memory, math};
use crate::{Call, Error, Kernel, View, op};

impl<M: Memory> Kernel<op::Softmax> for CpuBuffer<M> {
    fn run(&mut self, call: &Call<'_, op::Softmax>) -> Result<(), Error> {
        let operands = operands(self.memory.bytes_mut(), call)?;
        softmax(operands, &call.outputs[0], call.op.axis, false);
        Ok(())
    }
}

impl<M: Memory> Kernel<op::LogSoftmax> for CpuBuffer<M> {
    fn run(&mut self, call: &Call<'_, op::LogSoftmax>) -> Result<(), Error> {
        let operands = operands(self.memory.bytes_mut(), call)?;
        softmax(operands, &call.outputs[0], call.op.axis, true);
        Ok(())
    }
}

wide! {
    fn softmax(operands: Operands<'_, f32, 1>, view: &View, axis: usize, log: bool) {
        let Operands { output, inputs: [input], .. } = operands;
        let count = view.dims[axis];
        let inner: usize = view.dims[axis + 1..].iter().product();
        if output.is_empty() {
            return;
        }
        for (index, plane) in output.chunks_exact_mut(count * inner).enumerate() {
            if let Input::Slice(x) = input {
                plane.copy_from_slice(&x[index * count * inner..][..count * inner]);
            }
            if inner == 1 {
                row(plane, log);
            } else {
                for start in (0..inner).step_by(COLUMNS) {
                    columns(plane, inner, start, log);
                }
            }
        }
    }
}

/// One row whose elements lie side by side.
#[inline(always)]
pub(super) fn row(y: &mut [f32], log: bool) {
    let max = largest(y);
    if max == f32::NEG_INFINITY {
        return y.fill(if log { max } else { 0.0 });
    }
    if log {
        let mut total = 0.0;
        let mut block = [0.0; super::sum::BLOCK];
        for y in y.chunks(block.len()) {
            let block = &mut block[..y.len()];
            for (e, &y) in block.iter_mut().zip(y) {
                *e = math::exp(y - max);
            }
            total += sum(block);
        }
        let shift = math::log(total as f32);
        for y in y {
            *y = (*y - max) - shift;
        }
    } else {
        for y in y.iter_mut() {
            *y = math::exp(*y - max);
        }
        let scale = (1.0 / sum(y)) as f32;
        for y in y {
            *y *= scale;
        }
    }
}

/// Columns that are handled side by side.
const COLUMNS: usize = 32;

/// [`COLUMNS`] rows whose elements lie `inner` apart, side by side from column `start` on.
#[inline(always)]
fn columns(plane: &mut [f32], inner: usize, start: usize, log: bool) {
    let width = (inner - start).min(COLUMNS);
    let mut max = [f32::NEG_INFINITY; COLUMNS];
    for y in plane.chunks_exact(inner) {
        for (max, &y) in max.iter_mut().zip(&y[start..start + width]) {
            *max = if y > *max || y.is_nan() { y } else { *max };
        }
    }
    // Where all are -∞: `exp(-∞ - 0) = 0`, and a total of 0 is replaced below.
    let nothing = max.map(|max| max == f32::NEG_INFINITY);
    for (max, nothing) in max.iter_mut().zip(nothing) {
        *max = if nothing { 0.0 } else { *max };
    }
    let mut total = [0.0f64; COLUMNS];
    for y in plane.chunks_exact_mut(inner) {
        for ((y, total), &max) in y[start..start + width].iter_mut().zip(&mut total).zip(&max) {
            let shifted = *y - max;
            let e = math::exp(shifted);
            *total += f64::from(e);
            *y = if log { shifted } else { e };
        }
    }
    let mut last = [0.0; COLUMNS];
    for ((last, total), nothing) in last.iter_mut().zip(total).zip(nothing) {
        let total = if nothing { 1.0 } else { total };
        *last = if log { math::log(total as f32) } else { (1.0 / total) as f32 };
    }
    for y in plane.chunks_exact_mut(inner) {
        for (y, &last) in y[start..start + width].iter_mut().zip(&last) {
            *y = if log { *y - last } else { *y * last };
        }
    }
}
