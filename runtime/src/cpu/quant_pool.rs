//! Pooling of packed `N H W C` images of `i8`. Taps in the padding count for nothing; a window of nothing else gives 0 as
//! a mean and the least integer as a maximum.

use super::operands::{Operands, elements_mut, operands};
use super::quant::typed;
use super::window::{Side, sides};
use super::{CpuBuffer, Memory};
use crate::{Call, Error, Kernel, View, op};

/// Channels that are pooled side by side.
const CHANNELS: usize = 32;

impl<M: Memory> Kernel<op::QAvgPool2d> for CpuBuffer<M> {
    fn run(&mut self, call: &Call<'_, op::QAvgPool2d>) -> Result<(), Error> {
        let op::QAvgPool2d { kernel, stride, padding, low, high } = call.op;
        let Operands { output, inputs: [x], .. } = operands::<_, u8, 1>(self.memory.bytes_mut(), call)?;
        let (x, y) = (typed::<i8>(x)?, elements_mut::<i8>(output)?);
        let sides = windows(&call.inputs[0], &call.outputs[0], kernel, stride, padding);
        let mean = |sum: i32, count: i32| match count {
            0 => 0,
            _ if sum > 0 => (sum + count / 2) / count,
            _ => (sum - count / 2) / count,
        };
        pool(x, y, sides, call.inputs[0].dims[3], 0, i32::wrapping_add, |sum, count| mean(sum, count).clamp(low, high));
        Ok(())
    }
}

impl<M: Memory> Kernel<op::QMaxPool2d> for CpuBuffer<M> {
    fn run(&mut self, call: &Call<'_, op::QMaxPool2d>) -> Result<(), Error> {
        let op::QMaxPool2d { kernel, stride, padding, low, high } = call.op;
        let Operands { output, inputs: [x], .. } = operands::<_, u8, 1>(self.memory.bytes_mut(), call)?;
        let (x, y) = (typed::<i8>(x)?, elements_mut::<i8>(output)?);
        let sides = windows(&call.inputs[0], &call.outputs[0], kernel, stride, padding);
        pool(x, y, sides, call.inputs[0].dims[3], -128, Ord::max, |largest, _| largest.clamp(low, high));
        Ok(())
    }
}

fn windows(x: &View, y: &View, kernel: [usize; 2], stride: [usize; 2], padding: [usize; 4]) -> [Side; 2] {
    sides([x.dims[1], x.dims[2]], [y.dims[1], y.dims[2]], kernel, stride, padding, [1, 1])
}

/// Folds every window from `start` with `join`; `end` is given the result and the number of taps.
fn pool(
    x: &[i8],
    y: &mut [i8],
    [vertical, horizontal]: [Side; 2],
    channels: usize,
    start: i32,
    join: impl Fn(i32, i32) -> i32,
    end: impl Fn(i32, i32) -> i32,
) {
    if y.is_empty() {
        return;
    }
    let size = vertical.image * horizontal.image * channels;
    for (pixel, y) in y.chunks_exact_mut(channels).enumerate() {
        let (line, column) = (pixel / horizontal.windows, pixel % horizontal.windows);
        let (image, row) = (line / vertical.windows, line % vertical.windows);
        let x = &x[image * size..][..size];
        let (ups, acrosses) = (vertical.taps(row), horizontal.taps(column));
        let count = (ups.len() * acrosses.len()) as i32;
        for (block, y) in y.chunks_mut(CHANNELS).enumerate() {
            let mut folded = [start; CHANNELS];
            for u in ups.clone() {
                for v in acrosses.clone() {
                    let at = vertical.element(row, u) * horizontal.image + horizontal.element(column, v);
                    let x = &x[at * channels + block * CHANNELS..][..y.len()];
                    for (folded, x) in folded.iter_mut().zip(x) {
                        *folded = join(*folded, i32::from(*x));
                    }
                }
            }
            for (y, folded) in y.iter_mut().zip(folded) {
                // The range is within an `i8`.
                *y = end(folded, count) as i8;
            }
        }
    }
}
