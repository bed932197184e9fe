//! A crate that only exports blocks, and knows `model-graph` by another name than those who use them.

#![no_std]
#![deny(warnings, missing_docs, missing_debug_implementations, unreachable_pub, clippy::all, clippy::pedantic)]

use memory_planner::model_graph;

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
