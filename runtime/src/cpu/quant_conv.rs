//! Convolutions of `N H W C` images of `i8`, and of `f32` images that are quantised as they come.
//!
//! Every sum is one of integers, so that no order of it gives another result. Taps outside the image add nothing: they
//! stand for 0. Factors of the scales are worked out for a block of filters at a time, on the stack.

use super::fixed::Multiplier;
use super::operands::{Input, Operands, elements_mut, length, operands};
use super::quant::{one_scale, quantized, typed};
use super::wide::wide;
use super::window::{Side, sides};
use super::{CpuBuffer, Memory};
use crate::{Call, Error, Kernel, View, op};

/// Filters whose factors are at hand together.
pub(super) const BLOCK: usize = 32;

/// Where the filters are applied, and how many channels images and filters have.
#[derive(Clone, Copy)]
struct Extents {
    sides: [Side; 2],
    channels: usize,
    filters: usize,
}

impl Extents {
    fn new(views: [&View; 3], stride: [usize; 2], padding: [usize; 4], dilation: [usize; 2]) -> Extents {
        let [x, w, y] = views.map(|view| [view.dims[1], view.dims[2]]);
        let sides = sides(x, y, w, stride, padding, dilation);
        Extents { sides, channels: views[0].dims[3], filters: views[2].dims[3] }
    }

    fn image(&self) -> usize {
        self.sides[0].image * self.sides[1].image * self.channels
    }

    fn result(&self) -> usize {
        self.sides[0].windows * self.sides[1].windows * self.filters
    }
}

/// What becomes of the sums.
pub(super) trait Finish {
    /// Is told which filters come next, at most [`BLOCK`].
    fn block(&mut self, first: usize, count: usize);
    /// Takes the sum of element `at` of the result, which is that of filter `index` of the block.
    fn put(&mut self, at: usize, index: usize, sum: i32);
}

/// Sums to `i8`: the bias is added, the multiplier of the filter applied, the range cut.
pub(super) struct Rescale<'a> {
    pub(super) y: &'a mut [i8],
    /// Empty when there is none.
    pub(super) bias: &'a [i32],
    pub(super) scales: Scales<'a>,
    pub(super) zero: i32,
    pub(super) range: [i32; 2],
    block: [(i32, Multiplier); BLOCK],
}

/// The scales of a product.
#[derive(Clone, Copy)]
pub(super) struct Scales<'a> {
    x: f32,
    /// One, or one for each filter.
    w: &'a [f32],
    y: f32,
    /// A fully connected layer: as the kernels that TensorFlow Lite runs it with, and unlike the reference's convolution,
    /// it rounds once when it rescales, and rounds `x * w` to an `f32` where the filters share a scale.
    pub(super) linear: bool,
}

impl Scales<'_> {
    fn of(&self, filter: usize) -> Multiplier {
        let product = match *self.w {
            [w] if self.linear => f64::from(self.x * w),
            [w] => f64::from(self.x) * f64::from(w),
            _ => f64::from(self.x) * f64::from(self.w[filter]),
        };
        Multiplier::new(product / f64::from(self.y))
    }
}

impl<'a> Rescale<'a> {
    /// The operands after the images and the filters: the scales of images, filters and result, and the bias.
    pub(super) fn new(
        y: &'a mut [u8],
        [x_scale, w_scale, y_scale, bias]: [Input<'a, u8>; 4],
        zero: i32,
        range: [i32; 2],
    ) -> Result<Rescale<'a>, Error> {
        let (x, w) = (one_scale(x_scale)?, typed::<f32>(w_scale)?);
        let scales = Scales { x, w, y: one_scale(y_scale)?, linear: false };
        let block = [(0, Multiplier::default()); BLOCK];
        Ok(Rescale { y: elements_mut(y)?, bias: typed(bias)?, scales, zero, range, block })
    }
}

impl Finish for Rescale<'_> {
    fn block(&mut self, first: usize, count: usize) {
        for (filter, slot) in (first..first + count).zip(&mut self.block) {
            *slot = (self.bias.get(filter).copied().unwrap_or(0), self.scales.of(filter));
        }
    }

    #[inline(always)]
    fn put(&mut self, at: usize, index: usize, sum: i32) {
        let (bias, multiplier) = self.block[index];
        let sum = sum.wrapping_add(bias);
        let scaled = if self.scales.linear { multiplier.once(sum) } else { multiplier.twice(sum) };
        let scaled = scaled.saturating_add(self.zero);
        // The range is within an `i8`.
        self.y[at] = scaled.clamp(self.range[0], self.range[1]) as i8;
    }
}

impl<M: Memory> Kernel<op::QConv2d> for CpuBuffer<M> {
    fn run(&mut self, call: &Call<'_, op::QConv2d>) -> Result<(), Error> {
        let op::QConv2d { stride, padding, dilation, x_zero, y_zero, low, high } = call.op;
        let Operands { output, inputs: [x, w, rest @ ..], .. } = operands::<_, u8, 6>(self.memory.bytes_mut(), call)?;
        let mut finish = Rescale::new(output, rest, y_zero, [low, high])?;
        let e = Extents::new([&call.inputs[0], &call.inputs[1], &call.outputs[0]], stride, padding, dilation);
        let (x, w) = (typed::<i8>(x)?, typed::<i8>(w)?);
        for image in 0..call.outputs[0].dims[0] {
            dense(&x[image * e.image()..][..e.image()], x_zero, w, &e, image * e.result(), &mut finish);
        }
        Ok(())
    }
}

impl<M: Memory> Kernel<op::QDepthwiseConv2d> for CpuBuffer<M> {
    fn run(&mut self, call: &Call<'_, op::QDepthwiseConv2d>) -> Result<(), Error> {
        let op::QDepthwiseConv2d { stride, padding, dilation, x_zero, y_zero, low, high } = call.op;
        let Operands { output, inputs: [x, w, rest @ ..], .. } = operands::<_, u8, 6>(self.memory.bytes_mut(), call)?;
        let mut finish = Rescale::new(output, rest, y_zero, [low, high])?;
        let e = Extents::new([&call.inputs[0], &call.inputs[1], &call.outputs[0]], stride, padding, dilation);
        let (x, w) = (typed::<i8>(x)?, typed::<i8>(w)?);
        for image in 0..call.outputs[0].dims[0] {
            depthwise(&x[image * e.image()..][..e.image()], x_zero, w, &e, image * e.result(), &mut finish);
        }
        Ok(())
    }
}

/// Sums to `f32`.
struct Widen<'a> {
    y: &'a mut [f32],
    /// Empty when there is none.
    bias: &'a [f32],
    /// The image's scale.
    x: f32,
    /// One, or one for each filter.
    w: &'a [f32],
    /// Bias and factor.
    block: [(f32, f32); BLOCK],
}

impl Finish for Widen<'_> {
    fn block(&mut self, first: usize, count: usize) {
        for (filter, slot) in (first..first + count).zip(&mut self.block) {
            let w = if let [w] = *self.w { w } else { self.w[filter] };
            *slot = (self.bias.get(filter).copied().unwrap_or(0.0), self.x * w);
        }
    }

    #[inline(always)]
    fn put(&mut self, at: usize, index: usize, sum: i32) {
        let (bias, factor) = self.block[index];
        self.y[at] = sum as f32 * factor + bias;
    }
}

impl<M: Memory> Kernel<op::HybridConv2d> for CpuBuffer<M> {
    fn run(&mut self, call: &Call<'_, op::HybridConv2d>) -> Result<(), Error> {
        let op::HybridConv2d { stride, padding, dilation } = call.op;
        let Operands { output, inputs: [x, w, w_scale, bias], scratch } =
            operands::<_, u8, 4>(self.memory.bytes_mut(), call)?;
        let e = Extents::new([&call.inputs[0], &call.inputs[1], &call.outputs[0]], stride, padding, dilation);
        let (x, w, w_scale) = (typed::<f32>(x)?, typed::<i8>(w)?, typed::<f32>(w_scale)?);
        let mut finish =
            Widen { y: elements_mut(output)?, bias: typed(bias)?, x: 1.0, w: w_scale, block: [(0.0, 0.0); BLOCK] };
        let given = scratch.len();
        let Some(quantised) = elements_mut::<i8>(scratch)?.get_mut(..e.image()) else {
            return Err(length(e.image(), given));
        };
        for image in 0..call.outputs[0].dims[0] {
            finish.x = symmetric(&x[image * e.image()..][..e.image()], quantised);
            dense(quantised, 0, w, &e, image * e.result(), &mut finish);
        }
        Ok(())
    }
}

/// Quantises numbers to `-127..=127` and returns their scale (`SymmetricQuantizeFloats`). A NaN becomes 0.
fn symmetric(x: &[f32], quantised: &mut [i8]) -> f32 {
    let largest = x.iter().fold(0.0, |largest, x| if x.abs() > largest { x.abs() } else { largest });
    if largest == 0.0 {
        quantised.fill(0);
        return 1.0;
    }
    let inverse = 127.0 / largest;
    for (q, x) in quantised.iter_mut().zip(x) {
        *q = quantized(x * inverse, 0).max(-127);
    }
    largest / 127.0
}

wide! {
    /// One image, every filter over all channels.
    fn dense<F: Finish>(x: &[i8], zero: i32, w: &[i8], e: &Extents, start: usize, finish: &mut F) {
        let [vertical, horizontal] = e.sides;
        let filter = vertical.kernel * horizontal.kernel * e.channels;
        for first in (0..e.filters).step_by(BLOCK) {
            let count = (e.filters - first).min(BLOCK);
            finish.block(first, count);
            for row in 0..vertical.windows {
                for column in 0..horizontal.windows {
                    let at = start + (row * horizontal.windows + column) * e.filters + first;
                    for index in 0..count {
                        let w = &w[(first + index) * filter..][..filter];
                        finish.put(at + index, index, window(x, zero, w, e, row, column));
                    }
                }
            }
        }
    }

    /// One image, every channel with filters of its own.
    fn depthwise<F: Finish>(x: &[i8], zero: i32, w: &[i8], e: &Extents, start: usize, finish: &mut F) {
        let [vertical, horizontal] = e.sides;
        let each = e.filters.checked_div(e.channels).unwrap_or(0);
        for first in (0..e.filters).step_by(BLOCK) {
            let count = (e.filters - first).min(BLOCK);
            finish.block(first, count);
            for row in 0..vertical.windows {
                for column in 0..horizontal.windows {
                    let mut sums = [0i32; BLOCK];
                    let sums = &mut sums[..count];
                    for u in vertical.taps(row) {
                        for v in horizontal.taps(column) {
                            let pixel = vertical.element(row, u) * horizontal.image + horizontal.element(column, v);
                            let x = &x[pixel * e.channels..][..e.channels];
                            let w = &w[(u * horizontal.kernel + v) * e.filters + first..][..count];
                            if each == 1 {
                                add_products(sums, &x[first..][..count], zero, w);
                            } else {
                                for (index, (sum, w)) in sums.iter_mut().zip(w).enumerate() {
                                    let x = i32::from(x[(first + index) / each]) - zero;
                                    *sum = sum.wrapping_add(x * i32::from(*w));
                                }
                            }
                        }
                    }
                    let at = start + (row * horizontal.windows + column) * e.filters + first;
                    for (index, sum) in sums.iter().enumerate() {
                        finish.put(at + index, index, *sum);
                    }
                }
            }
        }
    }
}

/// What one filter sees of one window.
#[inline(always)]
fn window(x: &[i8], zero: i32, w: &[i8], e: &Extents, row: usize, column: usize) -> i32 {
    let [vertical, horizontal] = e.sides;
    let taps = horizontal.taps(column);
    let mut sum = 0i32;
    for u in vertical.taps(row) {
        let line = vertical.element(row, u) * horizontal.image;
        let mut run = |first: usize, taps: usize| {
            let x = &x[(line + horizontal.element(column, first)) * e.channels..][..taps * e.channels];
            let w = &w[(u * horizontal.kernel + first) * e.channels..][..taps * e.channels];
            sum = sum.wrapping_add(dot(x, zero, w));
        };
        if horizontal.dilation == 1 {
            // Neighbouring taps see neighbouring pixels.
            if !taps.is_empty() {
                run(taps.start, taps.len());
            }
        } else {
            taps.clone().for_each(|tap| run(tap, 1));
        }
    }
    sum
}

/// `Σ (x - zero) w`; differences of `i8` fit an `i16`.
#[inline(always)]
pub(super) fn dot(x: &[i8], zero: i32, w: &[i8]) -> i32 {
    let zero = zero as i16;
    x.iter().zip(w).fold(0, |sum: i32, (x, w)| {
        sum.wrapping_add(i32::from(i16::from(*x).wrapping_sub(zero)) * i32::from(i16::from(*w)))
    })
}

/// Adds `(x - zero) w` to each sum.
#[inline(always)]
fn add_products(sums: &mut [i32], x: &[i8], zero: i32, w: &[i8]) {
    for ((sum, x), w) in sums.iter_mut().zip(x).zip(w) {
        *sum = sum.wrapping_add((i32::from(*x) - zero) * i32::from(*w));
    }
}
