//! Quantised tensors element by element and row by row: to and from `f32`, sums, softmax. How kernels of several element
//! types get their operands is here too.

use bytemuck::Pod;

use super::fixed::{Multiplier, divide_by_power, exp, high_mul, reciprocal};
use super::nest::Nest;
use super::operands::{Input, Operands, broadcast, elements, elements_mut, operands};
use super::{CpuBuffer, Memory};
use crate::{Call, Error, Kernel, View, op};

/// Bits before the point of what softmax's exponentials are taken of, and of their sum.
const DIFFERENCE_BITS: i32 = 5;
const SUM_BITS: i32 = 12;

/// An operand's elements; none of one that is left out or the output.
pub(super) fn typed<T: Pod>(input: Input<'_, u8>) -> Result<&[T], Error> {
    elements(input.slice().unwrap_or(&[]))
}

/// The scale that a whole tensor shares; 0 where there is none, so that nothing comes of it.
pub(super) fn one_scale(input: Input<'_, u8>) -> Result<f32, Error> {
    Ok(typed::<f32>(input)?.first().copied().unwrap_or(0.0))
}

impl<M: Memory> Kernel<op::Quantize> for CpuBuffer<M> {
    fn run(&mut self, call: &Call<'_, op::Quantize>) -> Result<(), Error> {
        let Operands { output, inputs: [x, scale], .. } = operands::<_, u8, 2>(self.memory.bytes_mut(), call)?;
        let (x, scale, y) = (typed::<f32>(x)?, typed::<f32>(scale)?, elements_mut::<i8>(output)?);
        let zero = call.op.zero;
        along(&call.outputs[0], call.op.axis, scale, |at, scale| y[at] = quantized(x[at] / scale, zero));
        Ok(())
    }
}

impl<M: Memory> Kernel<op::Dequantize> for CpuBuffer<M> {
    fn run(&mut self, call: &Call<'_, op::Dequantize>) -> Result<(), Error> {
        let Operands { output, inputs: [x, scale], .. } = operands::<_, u8, 2>(self.memory.bytes_mut(), call)?;
        let (x, scale, y) = (typed::<i8>(x)?, typed::<f32>(scale)?, elements_mut::<f32>(output)?);
        let zero = call.op.zero;
        along(&call.outputs[0], call.op.axis, scale, |at, scale| y[at] = scale * (i32::from(x[at]) - zero) as f32);
        Ok(())
    }
}

/// The integer that stands for a number of scale 1.
#[inline(always)]
pub(super) fn quantized(x: f32, zero: i32) -> i8 {
    (libm::roundf(x) as i32).saturating_add(zero).clamp(-128, 127) as i8
}

/// Calls `body` with every element's position in a packed tensor and the scale of its index along `axis`.
fn along(view: &View, axis: usize, scales: &[f32], mut body: impl FnMut(usize, f32)) {
    if let [scale] = *scales {
        (0..view.elements()).for_each(|at| body(at, scale));
        return;
    }
    let inner: usize = view.dims().iter().skip(axis + 1).product();
    for row in 0..view.elements() / inner.max(1) {
        let scale = scales[row % scales.len()];
        (row * inner..(row + 1) * inner).for_each(|at| body(at, scale));
    }
}

impl<M: Memory> Kernel<op::QAdd> for CpuBuffer<M> {
    fn run(&mut self, call: &Call<'_, op::QAdd>) -> Result<(), Error> {
        let Operands { output, inputs: [a, b, scales @ ..], .. } = operands::<_, u8, 5>(self.memory.bytes_mut(), call)?;
        let [a_scale, b_scale, y_scale] = scales;
        let sum = Sum::new(call.op, one_scale(a_scale)?, one_scale(b_scale)?, one_scale(y_scale)?);
        let (a_in_place, b_in_place) = (matches!(a, Input::Output), matches!(b, Input::Output));
        let (a, b, y) = (typed::<i8>(a)?, typed::<i8>(b)?, elements_mut::<i8>(output)?);
        let dims = call.outputs[0].dims();
        let [a_view, b_view] = [&call.inputs[0], &call.inputs[1]];
        let strides = [&broadcast(&call.outputs[0], dims), &broadcast(a_view, dims), &broadcast(b_view, dims)];
        Nest::new(dims, strides.map(|strides| &strides[..dims.len()])).each(|[at, a_at, b_at]| {
            let a = if a_in_place { y[at] } else { a[a_at] };
            let b = if b_in_place { y[at] } else { b[b_at] };
            y[at] = sum.of(a, b);
        });
        Ok(())
    }
}

/// A sum of two scales: both are brought to twice the larger one, with 20 bits more than an `i8` has.
struct Sum {
    op: op::QAdd,
    a: Multiplier,
    b: Multiplier,
    y: Multiplier,
}

const SUM_SHIFT: u32 = 20;

impl Sum {
    fn new(op: op::QAdd, a: f32, b: f32, y: f32) -> Sum {
        // Scales below zero are none and give nothing, as everywhere.
        let twice = f64::from(2.0 * if a > b { a } else { b }).max(0.0);
        let of = |scale| Multiplier::new(f64::from(scale) / twice);
        Sum { op, a: of(a), b: of(b), y: Multiplier::new(twice / (f64::from(1 << SUM_SHIFT) * f64::from(y))) }
    }

    #[inline(always)]
    fn of(&self, a: i8, b: i8) -> i8 {
        let a = self.a.twice((i32::from(a) - self.op.a_zero) << SUM_SHIFT);
        let b = self.b.twice((i32::from(b) - self.op.b_zero) << SUM_SHIFT);
        // The range is within an `i8`.
        self.y.twice(a.saturating_add(b)).saturating_add(self.op.y_zero).clamp(self.op.low, self.op.high) as i8
    }
}

impl<M: Memory> Kernel<op::QSoftmax> for CpuBuffer<M> {
    fn run(&mut self, call: &Call<'_, op::QSoftmax>) -> Result<(), Error> {
        let Operands { output, inputs: [x, scale], .. } = operands::<_, u8, 2>(self.memory.bytes_mut(), call)?;
        let (x, scale, y) = (typed::<i8>(x)?, one_scale(scale)?, elements_mut::<i8>(output)?);
        if y.is_empty() {
            return Ok(());
        }
        if !x.is_empty() {
            y.copy_from_slice(x);
        }
        let bits = f64::from(1 << (31 - DIFFERENCE_BITS));
        let factor = f64::from(call.op.beta) * f64::from(scale) * bits;
        let limit = f64::from(i32::MAX);
        let difference = Multiplier::new(if factor > limit { limit } else { factor });
        // Below this, the exponential is nothing and its argument would overflow.
        let radius = (((1i64 << DIFFERENCE_BITS) - 1) << (31 - DIFFERENCE_BITS)) >> difference.left_shift();
        let row = call.outputs[0].dims[call.outputs[0].rank - 1];
        y.chunks_exact_mut(row).for_each(|row| softmax(row, difference, radius));
        Ok(())
    }
}

/// One row, in place.
fn softmax(row: &mut [i8], difference: Multiplier, radius: i64) {
    let Some(largest) = row.iter().max().map(|x| i32::from(*x)) else { return };
    let exponential = |x: i8| {
        let below = i32::from(x) - largest;
        (i64::from(below) >= -radius).then(|| exp(difference.twice(below)))
    };
    let exponentials = row.iter().filter_map(|x| exponential(*x));
    let sum = exponentials.fold(0i32, |sum, exp| sum.saturating_add(divide_by_power(exp, SUM_BITS as u32)));
    let (scale, shift) = reciprocal(sum, SUM_BITS);
    let shift = (shift + 31 - 8) as u32;
    for x in row {
        // Where more than 31 bits are dropped, no element is half a step.
        let steps = match exponential(*x) {
            Some(exp) if shift < 32 => divide_by_power(high_mul(scale, exp), shift),
            _ => 0,
        };
        *x = (steps - 128).clamp(-128, 127) as i8;
    }
}
