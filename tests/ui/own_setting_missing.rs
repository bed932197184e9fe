//! A setting without a default that is left out.

use model_graph::{model_graph, operator};

#[operator(fn(x: f32[.., N]) -> f32[.., N / step])]
struct Every {
    step: usize,
}

#[model_graph(dims(C = 4, N = 8))]
struct Model {
    #[input]
    x: Tensor<f32, C, N>,
    #[output(Every(x))]
    y: _,
}

fn main() {}
