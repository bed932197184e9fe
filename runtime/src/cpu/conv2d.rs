//! Two-dimensional convolution of packed images: what both layouts share, and `N C H W`.
//!
//! `y[n, o, i, j] = bias[o] + Σ x[n, c, i·sv + u·dv - top, j·sh + v·dh - left] w[o, c, u, v]` over the group's channels
//! `c` and the taps `u, v` inside the image. Nothing is unrolled into columns: a tile of filters by output columns
//! stays in registers while it goes over channels and taps, in that order. A 1 x 1 filter is a matrix product.

use super::conv2d_nhwc::channels_last;
use super::gemm::{Matrix, gemm};
use super::operands::{Operands, operands};
use super::window::{Side, sides};
use super::{CpuBuffer, Memory};
use crate::{Call, Error, Kernel, View, op};

impl<M: Memory> Kernel<op::Conv2d> for CpuBuffer<M> {
    fn run(&mut self, call: &Call<'_, op::Conv2d>) -> Result<(), Error> {
        let operands = operands(self.memory.bytes_mut(), call)?;
        conv2d(operands, &call.inputs[0], &call.inputs[1], &call.outputs[0], call.op);
        Ok(())
    }
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

fn conv2d(operands: Operands<'_, f32, 3>, x_view: &View, w_view: &View, y_view: &View, op: op::Conv2d) {
    let Operands { output, inputs: [x, w, bias], .. } = operands;
    let (Some(x), Some(w)) = (x.slice(), w.slice()) else { return };
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
    };
    if op.channels_last {
        channels_last(x, w, bias.slice(), output, &extents)
    } else {
        planes(x, w, bias.slice(), output, &extents)
    }
}

/// `N C H W`.
fn planes(x: &[f32], w: &[f32], bias: Option<&[f32]>, y: &mut [f32], e: &Extents) {
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
            continue;
        }
        if e.is_pointwise() {
            let a = Matrix { data: w, row: e.channels, column: 1 };
            let b = Matrix { data: x, row: windows, column: 1 };
            gemm([e.filters, windows, e.channels], a, b, y);
        } else {
            image::<8>(x, w, y, e);
        }
    }
}

/// Filters of a tile.
const FILTERS: usize = 4;

/// Elements of an image's row that are staged where a tile reaches over the edge.
const STAGE: usize = 128;

/// One image and one group, in tiles of [`FILTERS`] by `W` columns.
#[inline(always)]
fn image<const W: usize>(x: &[f32], w: &[f32], y: &mut [f32], e: &Extents) {
    let [vertical, horizontal] = e.sides;
    let mut filter = 0;
    while filter < e.filters {
        let w = &w[filter * e.filter()..];
        let y = &mut y[filter * vertical.windows * horizontal.windows..];
        let tall = e.filters - filter >= FILTERS;
        for row in 0..vertical.windows {
            let mut column = 0;
            while column < horizontal.windows {
                // The last tile of a row goes over columns again rather than over the edge: each column's sum is the
                // same in every tile.
                let start = if column + W > horizontal.windows { horizontal.windows.saturating_sub(W) } else { column };
                let at = [row, start, column];
                if tall {
                    tile::<FILTERS, W>(x, w, y, e, at)
                } else {
                    tile::<1, W>(x, w, y, e, at)
                }
                column = start + W;
            }
        }
        filter += if tall { FILTERS } else { 1 };
    }
}

/// `R` filters by up to `W` columns from `start` on, of which those from `fresh` on are still to be computed.
#[inline(always)]
fn tile<const R: usize, const W: usize>(
    x: &[f32],
    w: &[f32],
    y: &mut [f32],
    e: &Extents,
    [row, start, fresh]: [usize; 3],
) {
    let [vertical, horizontal] = e.sides;
    let (size, width) = (e.filter(), horizontal.image);
    let plane = vertical.windows * horizontal.windows;
    let end = (start + W).min(horizontal.windows);
    let mut sums = [[0.0; W]; R];
    for (r, sums) in sums.iter_mut().enumerate() {
        let y = &y[r * plane + row * horizontal.windows..];
        sums[fresh - start..end - start].copy_from_slice(&y[fresh..end]);
    }
    let filters: [&[f32]; R] = core::array::from_fn(|r| &w[r * size..][..size]);
    // Where the tile begins and how far it reaches, counted from the padding's start.
    let left = start * horizontal.stride;
    let reach = (W - 1) * horizontal.stride + (horizontal.kernel - 1) * horizontal.dilation + 1;
    let inside = left >= horizontal.before && left + reach <= horizontal.before + width;
    // The part of the stage that the image fills; the rest stays zero.
    let first = horizontal.before.saturating_sub(left).min(STAGE);
    let last = (horizontal.before + width).saturating_sub(left).min(reach).min(STAGE);
    let mut stage = [0.0; STAGE];
    let taps = vertical.taps(row);
    for channel in 0..e.channels {
        for tap in taps.clone() {
            let line = &x[(channel * vertical.image + vertical.element(row, tap)) * width..][..width];
            let at = (channel * vertical.kernel + tap) * horizontal.kernel;
            let weights: [&[f32]; R] = core::array::from_fn(|r| &filters[r][at..at + horizontal.kernel]);
            if inside && horizontal.stride == 1 {
                let line = &line[left - horizontal.before..];
                for tap in 0..horizontal.kernel {
                    let Some(xs) = line[tap * horizontal.dilation..].first_chunk::<W>() else { unreachable!() };
                    add(&mut sums, xs, weights.map(|w| w[tap]));
                }
                continue;
            }
            if reach <= STAGE {
                if first < last {
                    stage[first..last].copy_from_slice(&line[left + first - horizontal.before..][..last - first]);
                }
                for tap in 0..horizontal.kernel {
                    let from = &stage[tap * horizontal.dilation..];
                    let xs = core::array::from_fn(|j| from[j * horizontal.stride]);
                    add(&mut sums, &xs, weights.map(|w| w[tap]));
                }
            } else {
                for tap in 0..horizontal.kernel {
                    let xs: [f32; W] = core::array::from_fn(|j| {
                        let position = left + j * horizontal.stride + tap * horizontal.dilation;
                        position.checked_sub(horizontal.before).and_then(|at| line.get(at)).map_or(0.0, |x| *x)
                    });
                    add(&mut sums, &xs, weights.map(|w| w[tap]));
                }
            }
        }
    }
    for (r, sums) in sums.iter().enumerate() {
        let y = &mut y[r * plane + row * horizontal.windows..];
        y[fresh..end].copy_from_slice(&sums[fresh - start..end - start]);
    }
}

#[inline(always)]
fn add<const R: usize, const W: usize>(sums: &mut [[f32; W]; R], xs: &[f32; W], weights: [f32; R]) {
    for r in 0..R {
        for j in 0..W {
            sums[r][j] += weights[r] * xs[j];
        }
    }
}
