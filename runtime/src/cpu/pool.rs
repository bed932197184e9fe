//! Pooling of packed images, `N C H W` or `N H W C`.
//!
//! Taps outside the image never win a maximum and add nothing to a sum. A window without a single tap inside gives -∞
//! and, where padding does not count, NaN. With `count_padding` a mean is over the taps inside the image and its
//! padding; what hangs over the padding because of `ceil` is not counted (PyTorch, ONNX).

use super::operands::{Operands, operands};
use super::reduce::reduce;
use super::sum::{Add, Fold, Largest};
use super::wide::wide;
use super::window::{Side, sides};
use super::{CpuBuffer, Memory};
use crate::op::Window;
use crate::{Call, Error, Kernel, View, op};

impl<M: Memory> Kernel<op::MaxPool2d> for CpuBuffer<M> {
    fn run(&mut self, call: &Call<'_, op::MaxPool2d>) -> Result<(), Error> {
        let operands = operands(self.memory.bytes_mut(), call)?;
        pool::<Largest>(operands, &call.inputs[0], &call.outputs[0], call.op.window(), None);
        Ok(())
    }
}

impl<M: Memory> Kernel<op::AvgPool2d> for CpuBuffer<M> {
    fn run(&mut self, call: &Call<'_, op::AvgPool2d>) -> Result<(), Error> {
        let operands = operands(self.memory.bytes_mut(), call)?;
        let mean = Some(call.op.count_padding);
        pool::<Add>(operands, &call.inputs[0], &call.outputs[0], call.op.window(), mean);
        Ok(())
    }
}

impl<M: Memory> Kernel<op::MaxPool1d> for CpuBuffer<M> {
    fn run(&mut self, call: &Call<'_, op::MaxPool1d>) -> Result<(), Error> {
        let operands = operands(self.memory.bytes_mut(), call)?;
        let [x, y] = [&call.inputs[0], &call.outputs[0]].map(|view| op::lifted_view(view, call.op.channels_last));
        pool::<Largest>(operands, &x, &y, call.op.on_images().window(), None);
        Ok(())
    }
}

impl<M: Memory> Kernel<op::AvgPool1d> for CpuBuffer<M> {
    fn run(&mut self, call: &Call<'_, op::AvgPool1d>) -> Result<(), Error> {
        let operands = operands(self.memory.bytes_mut(), call)?;
        let [x, y] = [&call.inputs[0], &call.outputs[0]].map(|view| op::lifted_view(view, call.op.channels_last));
        pool::<Add>(operands, &x, &y, call.op.on_images().window(), Some(call.op.count_padding));
        Ok(())
    }
}

impl<M: Memory> Kernel<op::GlobalAvgPool> for CpuBuffer<M> {
    fn run(&mut self, call: &Call<'_, op::GlobalAvgPool>) -> Result<(), Error> {
        let operands = operands(self.memory.bytes_mut(), call)?;
        let axes = if call.op.channels_last { [1, 2] } else { [2, 3] };
        let marks = core::array::from_fn(|axis| axes.contains(&axis));
        reduce::<Add>(operands, &call.inputs[0], &marks, |total, count| (total / count as f64) as f32);
        Ok(())
    }
}

/// `mean` divides by the taps; it says whether those in the padding count.
fn pool<F: Fold>(operands: Operands<'_, f32, 1>, x_view: &View, y_view: &View, window: Window, mean: Option<bool>) {
    let Operands { output, inputs: [input], .. } = operands;
    let Some(x) = input.slice() else { return };
    if output.is_empty() {
        return;
    }
    let first = if window.channels_last { 1 } else { 2 };
    let [image, windows] = [x_view, y_view].map(|view| [view.dims[first], view.dims[first + 1]]);
    let sides = sides(image, windows, window.kernel, window.stride, window.padding, window.dilation);
    // `N H W C` is one image of `C`-element pixels after the other; `N C H W` is `N * C` images of single elements.
    let channels = if window.channels_last { x_view.dims[3] } else { 1 };
    let (x_size, y_size) = (image[0] * image[1] * channels, windows[0] * windows[1] * channels);
    for (index, y) in output.chunks_exact_mut(y_size).enumerate() {
        let x = &x[index * x_size..][..x_size];
        // Whole rows are taken tap by tap, which is without end where nearly all taps lie in padding.
        if channels == 1 && sides[1].kernel <= sides[1].image + sides[1].windows {
            plane::<F>(x, y, sides, mean);
        } else {
            pixels::<F>(x, y, sides, channels, mean);
        }
    }
}

wide! {
    fn plane<F: Fold>(x: &[f32], y: &mut [f32], sides: [Side; 2], mean: Option<bool>) {
        let [vertical, horizontal] = sides;
        for (window, y) in y.chunks_exact_mut(horizontal.windows).enumerate() {
            y.fill(F::START);
            for tap in vertical.taps(window) {
                let row = &x[vertical.element(window, tap) * horizontal.image..][..horizontal.image];
                for tap in 0..horizontal.kernel {
                    let windows = horizontal.windows_of(tap);
                    if windows.is_empty() {
                        continue;
                    }
                    let row = &row[horizontal.element(windows.start, tap)..];
                    let y = &mut y[windows];
                    join_row::<F>(y, row, horizontal.stride);
                }
            }
            if let Some(count_padding) = mean {
                for (column, y) in y.iter_mut().enumerate() {
                    *y /= taps([vertical, horizontal], [window, column], count_padding);
                }
            }
        }
    }
}

wide! {
    fn pixels<F: Fold>(x: &[f32], y: &mut [f32], sides: [Side; 2], channels: usize, mean: Option<bool>) {
        let [vertical, horizontal] = sides;
        for (row, y) in y.chunks_exact_mut(horizontal.windows * channels).enumerate() {
            for (column, y) in y.chunks_exact_mut(channels).enumerate() {
                y.fill(F::START);
                for tap in vertical.taps(row) {
                    let line = vertical.element(row, tap) * horizontal.image;
                    for tap in horizontal.taps(column) {
                        let pixel = line + horizontal.element(column, tap);
                        for (y, &x) in y.iter_mut().zip(&x[pixel * channels..][..channels]) {
                            *y = F::join(*y, x);
                        }
                    }
                }
                if let Some(count_padding) = mean {
                    let taps = taps([vertical, horizontal], [row, column], count_padding);
                    for y in y {
                        *y /= taps;
                    }
                }
            }
        }
    }
}

/// Joins every `stride`-th element to the windows.
#[inline(always)]
fn join_row<F: Fold>(y: &mut [f32], row: &[f32], stride: usize) {
    if stride == 1 {
        for (y, &x) in y.iter_mut().zip(row) {
            *y = F::join(*y, x);
        }
    } else if stride == 2 {
        let (pairs, rest) = row.as_chunks::<2>();
        let (y, last) = y.split_at_mut(y.len().min(pairs.len()));
        for (y, pair) in y.iter_mut().zip(pairs) {
            *y = F::join(*y, pair[0]);
        }
        for (y, &x) in last.iter_mut().zip(rest) {
            *y = F::join(*y, x);
        }
    } else {
        for (y, &x) in y.iter_mut().zip(row.iter().step_by(stride)) {
            *y = F::join(*y, x);
        }
    }
}

/// What a window's sum is divided by.
fn taps(sides: [Side; 2], window: [usize; 2], count_padding: bool) -> f32 {
    let [rows, columns] = [0, 1].map(|side| {
        if count_padding { sides[side].padded_taps(window[side]) } else { sides[side].taps(window[side]).len() }
    });
    // Padding can be larger than any image, and so can this be than a whole number.
    (rows as f64 * columns as f64) as f32
}
