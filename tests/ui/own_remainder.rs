//! Extents that the rule cannot halve.

use model_graph::{model_graph, operator};

#[operator(fn(x: f32[.., N]) -> f32[.., N / 2])]
struct Halves;

#[model_graph(dims(C = 4, N = 7))]
struct Model {
    #[input]
    x: Tensor<f32, C, N>,
    #[output(Halves(x))]
    y: _,
}

fn main() {}
