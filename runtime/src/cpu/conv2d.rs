//! Two-dimensional convolution of packed images: what both layouts share, and `N C H W`.
//!
//! `y[n, o, i, j] = bias[o] + Σ x[n, c, i·sv + u·dv - top, j·sh + v·dh - left] w[o, c, u, v]` over the group's channels
//! `c` and the taps `u, v` inside the image, added in this order. The image is never unrolled as a whole: a panel of
//! windows by taps is packed on the stack and multiplied with all filters. A 1 x 1 filter is a plain matrix product.
//! Padding is multiplied as the zeros it is, which matters for infinite weights alone.

use super::conv2d_nhwc::channels_last;
use super::gemm::{DEPTH, Matrix, column, gemm};
use super::operands::{Input, Operands, operands};
use super::then::{Blocks, Finish, MAX_OPERANDS};
use super::unary::gather;
use super::wide::wide;
use super::window::{Side, sides};
use super::{CpuBuffer, Memory};
use crate::{Call, Error, Kernel, View, op};

impl<M: Memory> Kernel<op::Conv2d> for CpuBuffer<M> {
    fn run(&mut self, call: &Call<'_, op::Conv2d>) -> Result<(), Error> {
        let Operands { output, inputs, .. } = operands(self.memory.bytes_mut(), call)?;
        conv2d(output, inputs, call.inputs, &call.outputs[0], call.op, None);
        Ok(())
    }
}

impl Blocks for op::Conv2d {
    fn blocks(
        &self,
        operands: Operands<'_, f32, MAX_OPERANDS>,
        [inputs, outputs]: [&[View]; 2],
        finish: &mut Finish<'_>,
    ) {
        let Operands { output, inputs: [x, w, bias, ..], .. } = operands;
        conv2d(output, [x, w, bias], inputs, &outputs[0], *self, Some(finish));
    }
}

impl<M: Memory> Kernel<op::Conv1d> for CpuBuffer<M> {
    fn run(&mut self, call: &Call<'_, op::Conv1d>) -> Result<(), Error> {
        let Operands { output, inputs, .. } = operands(self.memory.bytes_mut(), call)?;
        conv1d(output, inputs, [call.inputs, call.outputs], call.op, None);
        Ok(())
    }
}

impl Blocks for op::Conv1d {
    fn blocks(&self, operands: Operands<'_, f32, MAX_OPERANDS>, views: [&[View]; 2], finish: &mut Finish<'_>) {
        let Operands { output, inputs: [x, w, bias, ..], .. } = operands;
        conv1d(output, [x, w, bias], views, *self, Some(finish));
    }
}

/// Sequences as images of height 1.
fn conv1d(
    output: &mut [f32],
    operands: [Input<'_, f32>; 3],
    [inputs, outputs]: [&[View]; 2],
    op: op::Conv1d,
    finish: Option<&mut Finish<'_>>,
) {
    let [x, w, y] = [&inputs[0], &inputs[1], &outputs[0]].map(|view| op::lifted_view(view, op.channels_last));
    conv2d(output, operands, &[x, w], &y, op.on_images(), finish);
}

/// The extents of one convolution.
#[derive(Clone, Copy, Debug)]
pub(super) struct Extents {
    /// Vertical and horizontal windows.
    pub(super) sides: [Side; 2],
    /// Independent groups of channels.
    pub(super) groups: usize,
    /// Channels of the image that a filter sees.
    pub(super) channels: usize,
    /// Filters in a group.
    pub(super) filters: usize,
    /// Distances between the output's images, planes and rows in `N C H W`.
    pub(super) output: [usize; 3],
}

impl Extents {
    /// True when every output element sees one pixel, its own.
    pub(super) fn is_pointwise(&self) -> bool {
        self.sides.iter().all(|side| side.kernel == 1 && side.stride == 1 && side.before == 0 && side.after == 0)
    }

    /// Elements of one filter.
    pub(super) fn filter(&self) -> usize {
        self.channels * self.sides[0].kernel * self.sides[1].kernel
    }
}

fn conv2d(
    output: &mut [f32],
    [x, w, bias]: [Input<'_, f32>; 3],
    views: &[View],
    y_view: &View,
    op: op::Conv2d,
    finish: Option<&mut Finish<'_>>,
) {
    let (Some(x), Some(w)) = (x.slice(), w.slice()) else { return };
    let (x_view, w_view) = (&views[0], &views[1]);
    if output.is_empty() {
        return;
    }
    let (first, channel) = if op.channels_last { (1, 3) } else { (2, 1) };
    let [image, windows, kernel] = [x_view, y_view, w_view].map(|view| [view.dims[first], view.dims[first + 1]]);
    let extents = Extents {
        sides: sides(image, windows, kernel, op.stride, op.padding, op.dilation),
        groups: op.groups,
        channels: w_view.dims[channel],
        filters: w_view.dims[0] / op.groups,
        output: [y_view.strides[0], y_view.strides[1], y_view.strides[2]],
    };
    if op.channels_last {
        channels_last(x, w, bias.slice(), output, &extents);
        if let Some(finish) = finish {
            finish(output, 0);
        }
    } else if y_view.is_packed() {
        planes(x, w, bias.slice(), output, &extents, finish);
    } else {
        apart(x, w, bias.slice(), output, y_view.dims[0], &extents, finish);
    }
}

/// `N C H W`.
fn planes(x: &[f32], w: &[f32], bias: Option<&[f32]>, y: &mut [f32], e: &Extents, mut finish: Option<&mut Finish<'_>>) {
    let [vertical, horizontal] = e.sides;
    let windows = vertical.windows * horizontal.windows;
    let x_group = e.channels * vertical.image * horizontal.image;
    for (index, y) in y.chunks_exact_mut(e.filters * windows).enumerate() {
        let group = index % e.groups;
        let x = &x[index * x_group..][..x_group];
        let w = &w[group * e.filters * e.filter()..][..e.filters * e.filter()];
        let bias = bias.map(|bias| &bias[group * e.filters..][..e.filters]);
        for (filter, plane) in y.chunks_exact_mut(windows).enumerate() {
            plane.fill(bias.map_or(0.0, |bias| bias[filter]));
        }
        if e.filter() == 0 {
            // A sum of nothing.
        } else if e.is_pointwise() {
            let a = Matrix { data: w, row: e.channels, column: 1 };
            let b = Matrix { data: x, row: windows, column: 1 };
            gemm([e.filters, windows, e.channels], a, b, y);
        } else {
            if e.filters < FEW { rows(x, w, y, e) } else { image(x, w, y, e, windows) }
        }
        if let Some(finish) = &mut finish {
            finish(y, index * e.filters * windows);
        }
    }
}

/// `N C H W` whose rows do not lie one after the other, as inside a border: each is worked on by itself.
fn apart(
    x: &[f32],
    w: &[f32],
    bias: Option<&[f32]>,
    y: &mut [f32],
    images: usize,
    e: &Extents,
    mut finish: Option<&mut Finish<'_>>,
) {
    let [vertical, horizontal] = e.sides;
    let (width, windows) = (horizontal.windows, vertical.windows * horizontal.windows);
    let x_group = e.channels * vertical.image * horizontal.image;
    for index in 0..images * e.groups {
        let (image, group) = (index / e.groups, index % e.groups);
        let y = &mut y[image * e.output[0] + group * e.filters * e.output[1]..];
        let x = &x[index * x_group..][..x_group];
        let w = &w[group * e.filters * e.filter()..][..e.filters * e.filter()];
        let bias = bias.map(|bias| &bias[group * e.filters..][..e.filters]);
        for filter in 0..e.filters {
            for row in 0..vertical.windows {
                y[filter * e.output[1] + row * e.output[2]..][..width].fill(bias.map_or(0.0, |bias| bias[filter]));
            }
        }
        if e.filter() > 0 {
            if e.is_pointwise() && windows == 1 {
                // The one product whose sums depend on how its sides lie: as where the rows are together.
                for (filter, w) in w.chunks_exact(e.channels).enumerate() {
                    let a = Matrix { data: w, row: e.channels, column: 1 };
                    let b = Matrix { data: x, row: 1, column: 1 };
                    gemm([1, 1, e.channels], a, b, &mut y[filter * e.output[1]..]);
                }
            } else if e.filters < FEW && !e.is_pointwise() {
                rows(x, w, y, e);
            } else {
                self::image(x, w, y, e, width);
            }
        }
        if let Some(finish) = &mut finish {
            for line in 0..e.filters * vertical.windows {
                let (filter, row) = (line / vertical.windows, line % vertical.windows);
                let y = &mut y[filter * e.output[1] + row * e.output[2]..][..width];
                finish(y, index * e.filters * windows + line * width);
            }
        }
    }
}

/// Filters from which on packing the image pays.
const FEW: usize = 4;

/// One image and one group with few filters: each tap adds a shifted row to a row of the output.
fn rows(x: &[f32], w: &[f32], y: &mut [f32], e: &Extents) {
    let [vertical, horizontal] = e.sides;
    for (plane, filter) in w.chunks_exact(e.filter()).enumerate() {
        for row in 0..vertical.windows {
            let y = &mut y[plane * e.output[1] + row * e.output[2]..][..horizontal.windows];
            for channel in 0..e.channels {
                for u in vertical.taps(row) {
                    let line = channel * vertical.image + vertical.element(row, u);
                    let x = &x[line * horizontal.image..][..horizontal.image];
                    let w = &filter[(channel * vertical.kernel + u) * horizontal.kernel..][..horizontal.kernel];
                    add_row(x, w, y, &horizontal);
                }
            }
        }
    }
}

wide! {
    /// One row of the image under one row of taps.
    fn add_row(x: &[f32], w: &[f32], y: &mut [f32], side: &Side) {
        for (tap, &w) in w.iter().enumerate() {
            let windows = side.windows_of(tap);
            if windows.is_empty() {
                continue;
            }
            let x = &x[side.element(windows.start, tap)..];
            let y = &mut y[windows];
            if side.stride == 1 {
                for (y, &x) in y.iter_mut().zip(x) {
                    *y += w * x;
                }
            } else {
                for (y, &x) in y.iter_mut().zip(x.iter().step_by(side.stride)) {
                    *y += w * x;
                }
            }
        }
    }

    /// One image and one group, of whose output that many elements lie one after the other.
    fn image(x: &[f32], w: &[f32], y: &mut [f32], e: &Extents, run: usize) {
        if WIDE { panels::<16>(x, w, y, e, run) } else { panels::<8>(x, w, y, e, run) }
    }
}

/// As a product of the filters with the image's taps, of which `W` windows by [`DEPTH`] taps are packed at a time.
#[inline(always)]
fn panels<const W: usize>(x: &[f32], w: &[f32], y: &mut [f32], e: &Extents, run: usize) {
    let windows = e.sides[0].windows * e.sides[1].windows;
    let mut packed = [[0.0; W]; DEPTH];
    // A run is a row, or all rows where they lie one after the other.
    let panels = (0..windows).step_by(run).flat_map(|start| (0..run).step_by(W).map(move |at| (start, at)));
    for (start, at) in panels {
        let (first, width) = (start + at, (run - at).min(W));
        let y = &mut y[start / run * e.output[2] + at..];
        for start in (0..e.filter()).step_by(DEPTH) {
            let depth = (e.filter() - start).min(DEPTH);
            pack(x, &mut packed[..depth], e, start, first, width);
            let a = Matrix { data: &w[start..], row: e.filter(), column: 1 };
            column::<W>(e.filters, a, packed[..depth].as_flattened(), W, depth, y, e.output[1], width);
        }
    }
}

/// Row `k` becomes what tap `start + k` of a filter sees from window `first` on, zeros where that is padding.
#[inline(always)]
fn pack<const W: usize>(x: &[f32], packed: &mut [[f32; W]], e: &Extents, start: usize, first: usize, width: usize) {
    let [vertical, horizontal] = e.sides;
    let mut v = start % horizontal.kernel;
    let mut u = start / horizontal.kernel % vertical.kernel;
    let mut channel = start / horizontal.kernel / vertical.kernel;
    let (top, left) = (first / horizontal.windows, first % horizontal.windows);
    for packed in packed {
        let seen = horizontal.windows_of(v);
        let (mut row, mut from, mut filled) = (top, left, 0);
        while filled < width {
            let to = (from + width - filled).min(horizontal.windows);
            let target = &mut packed[filled..filled + to - from];
            let y = (row * vertical.stride + u * vertical.dilation).wrapping_sub(vertical.before);
            let inside = seen.start.max(from)..seen.end.min(to);
            if y >= vertical.image || inside.is_empty() {
                target.fill(0.0);
            } else {
                let at = (channel * vertical.image + y) * horizontal.image + horizontal.element(inside.start, v);
                let line = &x[at..];
                match (line.first_chunk::<W>(), target.as_mut_array::<W>()) {
                    (Some(line), Some(target)) if inside.len() == W && horizontal.stride == 1 => *target = *line,
                    _ => {
                        target[..inside.start - from].fill(0.0);
                        target[inside.end - from..].fill(0.0);
                        let target = &mut target[inside.start - from..inside.end - from];
                        if horizontal.stride == 1 {
                            target.copy_from_slice(&line[..target.len()]);
                        } else {
                            gather(line, 0, horizontal.stride, target);
                        }
                    }
                }
            }
            filled += to - from;
            (row, from) = (row + 1, 0);
        }
        v += 1;
        if v == horizontal.kernel {
            (u, v) = (u + 1, 0);
            if u == vertical.kernel {
                (channel, u) = (channel + 1, 0);
            }
        }
    }
}
