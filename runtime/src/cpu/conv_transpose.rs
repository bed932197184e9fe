//! Transposed convolution of packed `N C H W` images.
//!
//! What a few rows of an image are spread over is one product of the filters with them, which goes into working space
//! and is then added to the output tap by tap. An element of the output starts from the bias and is added to in the order
//! of the image's rows, the taps' rows and the taps' columns.

use super::gemm::{Matrix, gemm};
use super::operands::{Input, Operands, operands};
use super::then::{Blocks, Finish, MAX_OPERANDS};
use super::wide::wide;
use super::window::{Side, sides};
use super::{CpuBuffer, Memory};
use crate::op::{lifted_view, transposed_rows};
use crate::{Call, Error, Kernel, View, op};

impl<M: Memory> Kernel<op::ConvTranspose2d> for CpuBuffer<M> {
    fn run(&mut self, call: &Call<'_, op::ConvTranspose2d>) -> Result<(), Error> {
        let operands = operands(self.memory.bytes_mut(), call)?;
        transposed(operands, [call.inputs[0], call.inputs[1], call.outputs[0]], call.op);
        Ok(())
    }
}

impl<M: Memory> Kernel<op::ConvTranspose1d> for CpuBuffer<M> {
    fn run(&mut self, call: &Call<'_, op::ConvTranspose1d>) -> Result<(), Error> {
        let operands = operands(self.memory.bytes_mut(), call)?;
        let views = [&call.inputs[0], &call.inputs[1], &call.outputs[0]].map(|view| lifted_view(view, false));
        transposed(operands, views, call.op.on_images());
        Ok(())
    }
}

impl Blocks for op::ConvTranspose2d {
    fn blocks(
        &self,
        operands: Operands<'_, f32, MAX_OPERANDS>,
        [inputs, outputs]: [&[View]; 2],
        finish: &mut Finish<'_>,
    ) {
        let Operands { output, inputs: [x, w, bias, ..], scratch } = operands;
        let operands = Operands { output: &mut *output, inputs: [x, w, bias], scratch };
        transposed(operands, [inputs[0], inputs[1], outputs[0]], *self);
        finish(output, 0);
    }
}

impl Blocks for op::ConvTranspose1d {
    fn blocks(
        &self,
        operands: Operands<'_, f32, MAX_OPERANDS>,
        [inputs, outputs]: [&[View]; 2],
        finish: &mut Finish<'_>,
    ) {
        let Operands { output, inputs: [x, w, bias, ..], scratch } = operands;
        let operands = Operands { output: &mut *output, inputs: [x, w, bias], scratch };
        let views = [&inputs[0], &inputs[1], &outputs[0]].map(|view| lifted_view(view, false));
        transposed(operands, views, self.on_images());
        finish(output, 0);
    }
}

fn transposed(operands: Operands<'_, f32, 3>, [x_view, w_view, y_view]: [View; 3], op: op::ConvTranspose2d) {
    let Operands { output, inputs: [x, w, bias], scratch } = operands;
    let (Some(x), Some(w)) = (x.slice(), w.slice()) else { return };
    if output.is_empty() {
        return;
    }
    // The convolution whose windows are this one's image.
    let [image, windows, kernel] = [&y_view, &x_view, &w_view].map(|view| [view.dims[2], view.dims[3]]);
    let sides = sides(image, windows, kernel, op.stride, op.padding, op.dilation);
    let (channels, filters) = (x_view.dims[1] / op.groups, w_view.dims[1]);
    let plane = image[0] * image[1];
    let (x_size, w_size) = (channels * windows[0] * windows[1], channels * filters * kernel[0] * kernel[1]);
    for (index, y) in output.chunks_exact_mut(filters * plane).enumerate() {
        let group = index % op.groups;
        for (filter, y) in y.chunks_exact_mut(plane).enumerate() {
            y.fill(match bias {
                Input::Slice(bias) => bias[group * filters + filter],
                _ => 0.0,
            });
        }
        if channels > 0 {
            spread(&x[index * x_size..][..x_size], &w[group * w_size..][..w_size], y, scratch, channels, sides);
        }
    }
}

/// One image and one group.
fn spread(x: &[f32], w: &[f32], y: &mut [f32], scratch: &mut [f32], channels: usize, sides: [Side; 2]) {
    let [vertical, horizontal] = sides;
    let (pixels, taps) = (vertical.windows * horizontal.windows, w.len() / channels);
    let together = transposed_rows(vertical.windows, horizontal.windows);
    for top in (0..vertical.windows).step_by(together) {
        let rows = (vertical.windows - top).min(together);
        let run = rows * horizontal.windows;
        let columns = &mut scratch[..taps * run];
        columns.fill(0.0);
        let a = Matrix { data: w, row: 1, column: taps };
        let b = Matrix { data: &x[top * horizontal.windows..], row: pixels, column: 1 };
        gemm([taps, run, channels], a, b, columns);
        for row in 0..rows {
            for (plane, y) in y.chunks_exact_mut(vertical.image * horizontal.image).enumerate() {
                for u in vertical.taps(top + row) {
                    let line = vertical.element(top + row, u) * horizontal.image;
                    let y = &mut y[line..][..horizontal.image];
                    let tap = (plane * vertical.kernel + u) * horizontal.kernel;
                    add_taps(&columns[tap * run + row * horizontal.windows..], run, y, &horizontal);
                }
            }
        }
    }
}

wide! {
    /// Adds to one row of the output what one row of taps gives it; the taps' rows are `run` apart.
    fn add_taps(columns: &[f32], run: usize, y: &mut [f32], side: &Side) {
        for v in 0..side.kernel {
            let windows = side.windows_of(v);
            if windows.is_empty() {
                continue;
            }
            let from = &columns[v * run..][windows.clone()];
            let to = &mut y[side.element(windows.start, v)..];
            if side.stride == 1 {
                for (y, x) in to.iter_mut().zip(from) {
                    *y += x;
                }
            } else {
                for (y, x) in to.iter_mut().step_by(side.stride).zip(from) {
                    *y += x;
                }
            }
        }
    }
}
