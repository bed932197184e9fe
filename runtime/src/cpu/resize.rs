//! Resizing of strided tensors along some axes, as ONNX's `Resize` defines it.
//!
//! An element is a sum over the neighbours along each axis of their products of weights. For a row of the result the
//! neighbours along the other axes are the same, and there are at most 64 combinations of them; those along the last
//! axis are worked out once, into working space. What lies at a neighbour with the weight 0 does not count, also where it is
//! infinite: an element that falls on one of the operand's is that one.

use super::operands::{Operands, operands};
use super::wide::wide;
use super::{CpuBuffer, Memory};
use crate::{Call, Error, Kernel, View, op};

impl<M: Memory> Kernel<op::Resize> for CpuBuffer<M> {
    fn run(&mut self, call: &Call<'_, op::Resize>) -> Result<(), Error> {
        resize(operands(self.memory.bytes_mut(), call)?, &call.inputs[0], &call.outputs[0], &call.op);
        Ok(())
    }
}

/// Up to four elements along one axis, and how much each of them counts.
#[derive(Clone, Copy)]
struct Neighbours {
    count: usize,
    index: [usize; 4],
    weight: [f32; 4],
}

/// Offsets in the operand, and how much what lies there counts.
struct Rows {
    count: usize,
    at: [usize; 64],
    weight: [f32; 64],
}

fn resize(operands: Operands<'_, f32, 1>, x_view: &View, y_view: &View, op: &op::Resize) {
    let Operands { output, inputs: [x], scratch } = operands;
    let Some(x) = x.slice() else { return };
    if output.is_empty() {
        return;
    }
    let Some(last) = x_view.rank.checked_sub(1) else {
        output.copy_from_slice(&x[..1]);
        return;
    };
    let (columns, step) = (y_view.dims[last], x_view.strides[last]);
    let taps = op.neighbours();
    let (places, weights) = match op.axes[last] {
        true => scratch[..2 * columns * taps].split_at_mut(columns * taps),
        false => (&mut [][..], &mut [][..]),
    };
    let places: &mut [u32] = bytemuck::cast_slice_mut(places);
    for (index, (places, weights)) in places.chunks_exact_mut(taps).zip(weights.chunks_exact_mut(taps)).enumerate() {
        let near = neighbours(op, last, x_view.dims[last], columns, index);
        for tap in 0..taps {
            // An index below the extent of a tensor that is in memory; larger ones than 2^32 there are none of.
            places[tap] = near.index[tap] as u32;
            weights[tap] = near.weight[tap];
        }
    }
    for (row, y) in output.chunks_exact_mut(columns).enumerate() {
        let mut rows = Rows { count: 1, at: [0; 64], weight: [1.0; 64] };
        let mut rest = row;
        for axis in (0..last).rev() {
            let index = rest % y_view.dims[axis];
            rest /= y_view.dims[axis];
            let near = match op.axes[axis] {
                true => neighbours(op, axis, x_view.dims[axis], y_view.dims[axis], index),
                false => Neighbours { count: 1, index: [index; 4], weight: [1.0; 4] },
            };
            rows.spread(&near, x_view.strides[axis]);
        }
        y.fill(0.0);
        for (at, weight) in rows.at[..rows.count].iter().zip(rows.weight) {
            if op.axes[last] {
                add_resized(&x[*at..], weight, y, (places, weights), step);
            } else {
                add_row(&x[*at..], weight, y, step);
            }
        }
    }
}

impl Rows {
    /// Each of them at every neighbour along one more axis.
    fn spread(&mut self, near: &Neighbours, stride: usize) {
        let (count, mut taps) = (self.count, 0);
        let mut counts = [0; 4];
        for tap in (0..near.count).filter(|tap| near.weight[*tap] != 0.0) {
            counts[taps] = tap;
            taps += 1;
        }
        // From the last neighbour on: the first one's place is where they all come from.
        for (place, tap) in counts[..taps].iter().enumerate().rev() {
            for row in 0..count {
                self.at[place * count + row] = self.at[row] + near.index[*tap] * stride;
                self.weight[place * count + row] = self.weight[row] * near.weight[*tap];
            }
        }
        self.count = count * taps;
    }
}

wide! {
    /// A row whose last axis stays.
    fn add_row(x: &[f32], weight: f32, y: &mut [f32], step: usize) {
        if step == 1 {
            for (y, x) in y.iter_mut().zip(x) {
                *y += weight * x;
            }
        } else {
            for (index, y) in y.iter_mut().enumerate() {
                *y += weight * x[index * step];
            }
        }
    }
}

/// A row whose last axis is resized.
fn add_resized(x: &[f32], weight: f32, y: &mut [f32], (places, weights): (&[u32], &[f32]), step: usize) {
    let taps = places.len() / y.len();
    for ((y, places), weights) in y.iter_mut().zip(places.chunks_exact(taps)).zip(weights.chunks_exact(taps)) {
        let mut sum = 0.0;
        for (place, weight) in places.iter().zip(weights) {
            let product = weight * x[*place as usize * step];
            sum += if *weight == 0.0 { 0.0 } else { product };
        }
        *y += weight * sum;
    }
}

/// The elements along an axis of `from` elements that element `index` of `to` is made of.
fn neighbours(op: &op::Resize, axis: usize, from: usize, to: usize, index: usize) -> Neighbours {
    let given = f64::from(op.scales[axis]);
    let (i, n, m) = (index as f64, from as f64, to as f64);
    // A scale that is the extents' quotient is not worked out. What follows from the extents is divided once, so that a
    // coordinate that is a whole number, or half of one, is that and not a rounding beside it.
    let (asymmetric, half_pixel, whole) = match given > 0.0 {
        true => (i / given, (i + 0.5) / given - 0.5, given * n),
        false => (i * n / m, ((2.0 * i + 1.0) * n - m) / (2.0 * m), m),
    };
    let at = match op.coordinates {
        1 => asymmetric,
        2 if whole == 1.0 => 0.0,
        2 => i * (n - 1.0) / (whole - 1.0),
        3 if whole <= 1.0 => 0.0,
        4 => n / 2.0 * (1.0 - m / whole) + half_pixel,
        _ => half_pixel,
    };
    let inside = |at: f64| at.clamp(0.0, n - 1.0) as usize;
    if op.mode == 0 {
        let nearest = match op.rounding {
            0 => libm::ceil(at - 0.5),
            1 => libm::floor(at + 0.5),
            2 => libm::floor(at),
            _ => libm::ceil(at),
        };
        return Neighbours { count: 1, index: [inside(nearest); 4], weight: [1.0; 4] };
    }
    let low = libm::floor(at);
    let r = at - low;
    let (count, first, weight) = match op.mode {
        1 => (2, low, [1.0 - r, r, 0.0, 0.0]),
        _ => {
            (4, low - 1.0, [far(r + 1.0, op.cubic), near(r, op.cubic), near(1.0 - r, op.cubic), far(2.0 - r, op.cubic)])
        }
    };
    let places: [f64; 4] = core::array::from_fn(|tap| first + tap as f64);
    let outside = |place: f64| op.exclude_outside && (place < 0.0 || place >= n);
    let weight: [f64; 4] = core::array::from_fn(|tap| if outside(places[tap]) { 0.0 } else { weight[tap] });
    let total: f64 = if op.exclude_outside { weight[..count].iter().sum() } else { 1.0 };
    Neighbours { count, index: places.map(inside), weight: weight.map(|weight| (weight / total) as f32) }
}

/// The cubic kernel from 0 to 1 (Keys, 1981).
fn near(x: f64, a: f32) -> f64 {
    let a = f64::from(a);
    ((a + 2.0) * x - (a + 3.0)) * x * x + 1.0
}

/// The cubic kernel from 1 to 2.
fn far(x: f64, a: f32) -> f64 {
    f64::from(a) * (((x - 5.0) * x + 8.0) * x - 4.0)
}
