//! Two-dimensional convolution of `N H W C` images with `O KH KW C/groups` filters.
//!
//! The same sum as in [`super::conv2d`], over rows of taps, taps and channels in this order. What a block of pixels
//! sees and a panel of filters are packed on the stack and multiplied; a 1 x 1 filter is a plain matrix product.

use super::conv2d::Extents;
use super::gemm::{DEPTH, Matrix, column, gemm};
use super::unary::gather;
use super::wide::wide;

/// Channels that a depthwise convolution handles side by side.
const CHANNELS: usize = 32;

/// Pixels that are packed at a time.
const PIXELS: usize = 8;

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
        if e.channels == 1 && e.filters == 1 {
            depthwise(x, w, y, e);
        } else {
            for group in 0..e.groups {
                image(x, w, y, e, group);
            }
        }
    }
}

wide! {
    /// One image and one group.
    fn image(x: &[f32], w: &[f32], y: &mut [f32], e: &Extents, group: usize) {
        if WIDE { panels::<16>(x, w, y, e, group) } else { panels::<8>(x, w, y, e, group) }
    }

    /// One image in which every channel has a filter of its own.
    fn depthwise(x: &[f32], w: &[f32], y: &mut [f32], e: &Extents) {
        let [vertical, horizontal] = e.sides;
        let (taps, depth) = (vertical.kernel * horizontal.kernel, e.groups);
        let mut weights = [0.0; CHANNELS];
        for (row, y) in y.chunks_exact_mut(horizontal.windows * depth).enumerate() {
            for start in (0..depth).step_by(CHANNELS) {
                let width = (depth - start).min(CHANNELS);
                for u in vertical.taps(row) {
                    let line = vertical.element(row, u) * horizontal.image;
                    for v in 0..horizontal.kernel {
                        gather(w, start * taps + u * horizontal.kernel + v, taps, &mut weights[..width]);
                        for column in horizontal.windows_of(v) {
                            let pixel = line + horizontal.element(column, v);
                            let x = &x[pixel * depth + start..][..width];
                            let y = &mut y[column * depth + start..][..width];
                            for ((y, x), w) in y.iter_mut().zip(x).zip(&weights) {
                                *y += w * x;
                            }
                        }
                    }
                }
            }
        }
    }
}

/// In panels of `W` filters by [`DEPTH`] taps and channels.
#[inline(always)]
fn panels<const W: usize>(x: &[f32], w: &[f32], y: &mut [f32], e: &Extents, group: usize) {
    let windows = e.sides[0].windows * e.sides[1].windows;
    let (size, outputs) = (e.filter(), e.groups * e.filters);
    let mut panel = [[0.0; W]; DEPTH];
    let mut pixels = [[0.0; DEPTH]; PIXELS];
    for filter in (0..e.filters).step_by(W) {
        let width = (e.filters - filter).min(W);
        let filter = group * e.filters + filter;
        for start in (0..size).step_by(DEPTH) {
            let depth = (size - start).min(DEPTH);
            for (k, row) in panel[..depth].iter_mut().enumerate() {
                gather(w, filter * size + start + k, size, &mut row[..width]);
            }
            for first in (0..windows).step_by(PIXELS) {
                let count = (windows - first).min(PIXELS);
                for (index, pixel) in pixels[..count].iter_mut().enumerate() {
                    pack(x, &mut pixel[..depth], e, group, start, first + index);
                }
                let a = Matrix { data: pixels.as_flattened(), row: DEPTH, column: 1 };
                let y = &mut y[first * outputs + filter..];
                column::<W>(count, a, panel[..depth].as_flattened(), W, depth, y, outputs, width);
            }
        }
    }
}

/// What a filter sees of its group's channels in one window, from element `start` of the filter on.
#[inline(always)]
fn pack(x: &[f32], packed: &mut [f32], e: &Extents, group: usize, start: usize, window: usize) {
    let [vertical, horizontal] = e.sides;
    let (row, column) = (window / horizontal.windows, window % horizontal.windows);
    let (tap, mut channel) = (start / e.channels, start % e.channels);
    let (mut u, mut v) = (tap / horizontal.kernel, tap % horizontal.kernel);
    let mut rest = packed;
    while !rest.is_empty() {
        let (target, more) = rest.split_at_mut((e.channels - channel).min(rest.len()));
        let i = (row * vertical.stride + u * vertical.dilation).wrapping_sub(vertical.before);
        let j = (column * horizontal.stride + v * horizontal.dilation).wrapping_sub(horizontal.before);
        if i < vertical.image && j < horizontal.image {
            let pixel = (i * horizontal.image + j) * e.groups + group;
            let from = &x[pixel * e.channels + channel..][..target.len()];
            if let ([target], [from]) = (&mut *target, from) {
                *target = *from;
            } else {
                target.copy_from_slice(from);
            }
        } else {
            target.fill(0.0);
        }
        rest = more;
        channel = 0;
        v += 1;
        if v == horizontal.kernel {
            (u, v) = (u + 1, 0);
        }
    }
}
