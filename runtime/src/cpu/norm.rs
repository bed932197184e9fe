//! Layer norm and root-mean-square norm of packed rows, in place or not.
//!
//! `layer_norm = (x - mean) / sqrt(var + eps) * scale + bias` with `var = Σ (x - mean)² / n` taken in a second pass,
//! and `rms_norm = x / sqrt(Σ x² / n + eps) * scale`, over the dimensions from `axis` on.

use super::nest::Nest;
use super::operands::{Input, Operands, broadcast, operands};
use super::sum::{sum, sum_of_squares};
use super::wide::wide;
use super::{CpuBuffer, Memory};
use crate::{Call, Error, Kernel, MAX_RANK, View, op};

impl<M: Memory> Kernel<op::LayerNorm> for CpuBuffer<M> {
    fn run(&mut self, call: &Call<'_, op::LayerNorm>) -> Result<(), Error> {
        let operands: Operands<'_, f32, 3> = operands(self.memory.bytes_mut(), call)?;
        norm(operands, call.inputs, call.op.axis, call.op.eps, true);
        Ok(())
    }
}

impl<M: Memory> Kernel<op::RmsNorm> for CpuBuffer<M> {
    fn run(&mut self, call: &Call<'_, op::RmsNorm>) -> Result<(), Error> {
        let Operands { output, inputs: [x, scale], scratch } = operands(self.memory.bytes_mut(), call)?;
        let operands = Operands { output, inputs: [x, scale, Input::Absent], scratch };
        norm(operands, call.inputs, call.op.axis, call.op.eps, false);
        Ok(())
    }
}

impl<M: Memory> Kernel<op::GroupNorm> for CpuBuffer<M> {
    fn run(&mut self, call: &Call<'_, op::GroupNorm>) -> Result<(), Error> {
        let operands = operands(self.memory.bytes_mut(), call)?;
        groups(operands, call.inputs, call.op.groups, call.op.eps);
        Ok(())
    }
}

impl<M: Memory> Kernel<op::InstanceNorm> for CpuBuffer<M> {
    fn run(&mut self, call: &Call<'_, op::InstanceNorm>) -> Result<(), Error> {
        let operands = operands(self.memory.bytes_mut(), call)?;
        groups(operands, call.inputs, call.inputs[0].dims[1], call.op.eps);
        Ok(())
    }
}

/// A layer norm of instances by groups by channels by the rest, over the last two.
fn groups(operands: Operands<'_, f32, 3>, views: &[View], groups: usize, eps: f32) {
    let x = &views[0];
    if operands.output.is_empty() {
        return;
    }
    let (channels, rest) = (x.dims[1] / groups, x.dims[2..x.rank].iter().product::<usize>());
    let view = |dims: &[usize], strides: &[usize]| {
        let mut view = View { rank: dims.len(), dims: [1; MAX_RANK], strides: [0; MAX_RANK], ..*x };
        view.dims[..dims.len()].copy_from_slice(dims);
        view.strides[..strides.len()].copy_from_slice(strides);
        view
    };
    let each = x.dims[1] * rest;
    let lifted = view(&[x.dims[0], groups, channels, rest], &[each, channels * rest, rest, 1]);
    let vector = view(&[groups, channels, 1], &[channels, 1, 0]);
    norm(operands, &[lifted, vector, vector], 2, eps, true);
}

wide! {
    fn norm(operands: Operands<'_, f32, 3>, views: &[View], axis: usize, eps: f32, centered: bool) {
        let Operands { output, inputs: [input, scale, bias], .. } = operands;
        let dims = views[0].dims();
        let count: usize = dims[axis..].iter().product();
        if output.is_empty() {
            return;
        }
        for (index, y) in output.chunks_exact_mut(count).enumerate() {
            let from = index * count;
            let x = input.slice().map(|x| &x[from..from + count]);
            let (mean, factor) = statistics(x.unwrap_or(y), eps, centered);
            match x {
                Some(x) => {
                    for (y, &x) in y.iter_mut().zip(x) {
                        *y = (x - mean) * factor;
                    }
                }
                None => {
                    for y in y {
                        *y = (*y - mean) * factor;
                    }
                }
            }
        }
        if let Some(scale) = scale.slice() {
            apply(output, scale, dims, &views[1], |y, s| y * s);
        }
        if let Some(bias) = bias.slice() {
            apply(output, bias, dims, &views[2], |y, b| y + b);
        }
    }
}

/// What is subtracted from a row and what the difference is multiplied with.
#[inline(always)]
fn statistics(x: &[f32], eps: f32, centered: bool) -> (f32, f32) {
    let count = x.len() as f64;
    let mean = if centered { (sum(x) / count) as f32 } else { 0.0 };
    let variance = sum_of_squares(x, mean) / count + f64::from(eps);
    (mean, (1.0 / libm::sqrt(variance)) as f32)
}

/// `y = f(y, p)` with `p` broadcast to `y`'s extents.
#[inline(always)]
fn apply(y: &mut [f32], p: &[f32], dims: &[usize], view: &View, f: impl Fn(f32, f32) -> f32) {
    let mut strides = [0; crate::MAX_RANK];
    let mut stride = 1;
    for axis in (0..dims.len()).rev() {
        strides[axis] = stride;
        stride *= dims[axis];
    }
    let nest = Nest::new(dims, [&strides, &broadcast(view, dims)]);
    let (count, [_, step]) = nest.row();
    nest.rows(|[at, from]| {
        let y = &mut y[at..at + count];
        if step == 1 {
            for (y, &p) in y.iter_mut().zip(&p[from..from + count]) {
                *y = f(*y, p);
            }
        } else if step == 0 {
            let p = p[from];
            for y in y {
                *y = f(*y, p);
            }
        } else {
            for (index, y) in y.iter_mut().enumerate() {
                *y = f(*y, p[from + index * step]);
            }
        }
    });
}
