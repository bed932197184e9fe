//! Two-dimensional convolution of `N H W C` images with `O KH KW C/groups` filters: a filter's taps in a row and the
//! pixels under them lie side by side, so an output element is a few dot products, one per row of taps.

use super::conv2d::Extents;
use super::gemm::{Dots, Matrix, add_dots, gemm, join};
use super::wide::wide;

/// Filters of a tile.
const FILTERS: usize = 4;

/// Channels that a depthwise convolution handles side by side.
const CHANNELS: usize = 16;

pub(super) fn channels_last(x: &[f32], w: &[f32], bias: Option<&[f32]>, y: &mut [f32], e: &Extents) {
    let [vertical, horizontal] = e.sides;
    let outputs = e.groups * e.filters;
    for pixel in y.chunks_exact_mut(outputs) {
        match bias {
            Some(bias) => pixel.copy_from_slice(bias),
            None => pixel.fill(0.0),
        }
    }
    if e.filter() == 0 {
        return;
    }
    if e.groups == 1 && e.is_pointwise() {
        let a = Matrix { data: x, row: e.channels, column: 1 };
        let b = Matrix { data: w, row: 1, column: e.channels };
        return gemm([y.len() / outputs, outputs, e.channels], a, b, y);
    }
    let x_size = vertical.image * horizontal.image * e.groups * e.channels;
    for (index, y) in y.chunks_exact_mut(vertical.windows * horizontal.windows * outputs).enumerate() {
        let x = &x[index * x_size..][..x_size];
        for (row, y) in y.chunks_exact_mut(horizontal.windows * outputs).enumerate() {
            if e.channels == 1 && e.filters == 1 {
                for (column, y) in y.chunks_exact_mut(outputs).enumerate() {
                    depthwise(x, w, y, e, [row, column]);
                }
                continue;
            }
            for group in 0..e.groups {
                line(x, w, y, e, row, group);
            }
        }
    }
}

wide! {
    /// One row of output pixels, one group of channels.
    fn line(x: &[f32], w: &[f32], y: &mut [f32], e: &Extents, row: usize, group: usize) {
        let [_, horizontal] = e.sides;
        let outputs = e.groups * e.filters;
        let mut column = 0;
        while column < horizontal.windows {
            let inside = |column| column < horizontal.windows && horizontal.taps(column).len() == horizontal.kernel;
            let pair = inside(column) && inside(column + 1);
            let y = &mut y[column * outputs + group * e.filters..];
            let mut filter = 0;
            while filter < e.filters {
                let wide = filter + FILTERS <= e.filters;
                let at = [row, column, group, filter];
                match (pair, wide) {
                    (true, true) => tile::<2, FILTERS>(x, w, &mut y[filter..], e, at),
                    (true, false) => tile::<2, 1>(x, w, &mut y[filter..], e, at),
                    (false, true) => tile::<1, FILTERS>(x, w, &mut y[filter..], e, at),
                    (false, false) => tile::<1, 1>(x, w, &mut y[filter..], e, at),
                }
                filter += if wide { FILTERS } else { 1 };
            }
            column += if pair { 2 } else { 1 };
        }
    }
}

/// `P` pixels, which see the same horizontal taps, by `Q` filters.
#[inline(always)]
fn tile<const P: usize, const Q: usize>(
    x: &[f32],
    w: &[f32],
    y: &mut [f32],
    e: &Extents,
    [row, column, group, filter]: [usize; 4],
) {
    let [vertical, horizontal] = e.sides;
    let depth = e.groups * e.channels;
    let mut sums: Dots<P, Q> = [[[0.0; _]; Q]; P];
    let taps = horizontal.taps(column);
    // Neighbouring taps are one run of memory when the filter sees all channels of neighbouring pixels.
    let run = if e.groups == 1 && horizontal.dilation == 1 { taps.len() } else { 1 };
    for v in vertical.taps(row) {
        let line = vertical.element(row, v) * horizontal.image;
        for h in taps.clone().step_by(run.max(1)) {
            let pixels = core::array::from_fn(|p| {
                let pixel = line + horizontal.element(column + p, h);
                &x[pixel * depth + group * e.channels..][..run * e.channels]
            });
            let filters = core::array::from_fn(|q| {
                let filter = group * e.filters + filter + q;
                let tap = (filter * vertical.kernel + v) * horizontal.kernel + h;
                &w[tap * e.channels..][..run * e.channels]
            });
            add_dots(&mut sums, pixels, filters);
        }
    }
    for (p, sums) in sums.iter().enumerate() {
        for (q, sums) in sums.iter().enumerate() {
            y[p * e.groups * e.filters + q] += join(sums);
        }
    }
}

/// One pixel of a convolution in which every channel has one filter of its own.
fn depthwise(x: &[f32], w: &[f32], y: &mut [f32], e: &Extents, [row, column]: [usize; 2]) {
    let [vertical, horizontal] = e.sides;
    let taps = vertical.kernel * horizontal.kernel;
    for start in (0..e.groups).step_by(CHANNELS) {
        let width = (e.groups - start).min(CHANNELS);
        let y = &mut y[start..start + width];
        for v in vertical.taps(row) {
            let line = vertical.element(row, v) * horizontal.image;
            for h in horizontal.taps(column) {
                let pixel = line + horizontal.element(column, h);
                let x = &x[pixel * e.groups + start..][..width];
                let w = w[start * taps + v * horizontal.kernel + h..].iter().step_by(taps);
                for ((y, x), w) in y.iter_mut().zip(x).zip(w) {
                    *y += x * w;
                }
            }
        }
    }
}
