//! Leading dims that differ.

use model_graph::{model_graph, operator};

#[operator(fn(x: f32[.., N], gate: f32[..]) -> f32[.., N])]
struct Gate;

#[model_graph(dims(C = 4, N = 8))]
struct Model {
    #[input]
    x: Tensor<f32, C, N>,
    #[weight]
    a: Tensor<f32, 3>,
    #[output(Gate(x, a))]
    y: _,
}

fn main() {}
