//! A crate that only exports blocks and operators, and knows `model-graph` by another name than those who use them.

#![no_std]
#![deny(warnings, missing_docs, missing_debug_implementations, unreachable_pub, clippy::all, clippy::pedantic)]

use memory_planner::cpu::{Memory, Operands, operands};
use memory_planner::{Call, CpuBuffer, Error, Kernel, model_graph, operator};

/// What only this crate knows.
const SLOPES: [f32; 2] = [0.5, 2.0];

/// A product and a sum.
#[model_graph(dims(ROWS = 1, IN = 2, OUT = 3), crate = ::memory_planner)]
#[derive(Debug)]
pub struct Affine {
    /// What goes in.
    #[input]
    pub x: Tensor<f32, ROWS, IN>,
    /// The matrix.
    #[weight]
    pub w: Tensor<f32, IN, OUT>,
    #[weight]
    b: Tensor<f32, OUT>,
    /// What comes out.
    #[output(matmul(x, w) + b)]
    pub y: Tensor<f32, ROWS, OUT>,
}

/// Another block of this crate and a constant of it.
#[model_graph(dims(ROWS = 1), crate = ::memory_planner)]
#[derive(Debug)]
pub struct Sloped {
    /// What goes in.
    #[input]
    pub x: Tensor<f32, ROWS, 2>,
    #[constant(crate::SLOPES)]
    slopes: Tensor<f32, 2>,
    #[node(Affine<ROWS = ROWS, OUT = 2>(x * slopes))]
    inner: _,
    /// What comes out.
    #[output(relu(inner))]
    pub y: _,
}

/// A block that has no extents of its own.
#[model_graph(dims(N = _), crate = ::memory_planner)]
#[derive(Debug)]
pub struct Gate {
    /// What goes in.
    #[input]
    pub x: Tensor<f32, N>,
    /// What it is multiplied by.
    #[weight]
    pub gate: Tensor<f32, N>,
    /// What comes out.
    #[output(x * gate)]
    pub y: _,
}

/// An operator of this crate: running sums along the last dimension, decayed by `keep` at each step.
#[operator(fn(x: f32[.., N]) -> f32[.., N], in_place = x, crate = ::memory_planner)]
#[derive(Clone, Copy, Debug)]
pub struct Decay {
    /// Nobody else can set it but by a call.
    #[setting(default = 0.5)]
    keep: f32,
}

impl<M: Memory> Kernel<Decay> for CpuBuffer<M> {
    fn run(&mut self, call: &Call<'_, Decay>) -> Result<(), Error> {
        let Operands { output, inputs: [x], .. } = operands(self, call)?;
        let y = output.of::<f32>()?;
        if let Some(x) = x.get::<f32>()? {
            y.copy_from_slice(x);
        }
        let length = call.outputs[0].dims().last().copied().unwrap_or(1).max(1);
        for row in y.chunks_exact_mut(length) {
            let mut sum = 0.0;
            for y in row {
                sum = sum * call.op.keep + *y;
                *y = sum;
            }
        }
        Ok(())
    }
}

/// One that this crate keeps to itself.
#[operator(fn(x: f32[..]) -> f32[..], in_place = x, crate = ::memory_planner)]
#[derive(Debug)]
struct Halve;

impl<M: Memory> Kernel<Halve> for CpuBuffer<M> {
    fn run(&mut self, call: &Call<'_, Halve>) -> Result<(), Error> {
        let Operands { output, inputs: [x], .. } = operands(self, call)?;
        let y = output.of::<f32>()?;
        if let Some(x) = x.get::<f32>()? {
            y.copy_from_slice(x);
        }
        for y in y {
            *y *= 0.5;
        }
        Ok(())
    }
}

/// A block that calls both, which have no name where it is used.
#[model_graph(dims(N = _), crate = ::memory_planner)]
#[derive(Debug)]
pub struct Smooth {
    /// What goes in.
    #[input]
    pub x: Tensor<f32, N>,
    /// What comes out.
    #[output(Decay(Halve(x), keep = 0.25))]
    pub y: _,
}
