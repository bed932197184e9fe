//! An operator without operands.

use model_graph::{model_graph, operator};

#[operator(fn(x: f32[.., C, N], a: f32[C]) -> f32[.., C, N], in_place = x)]
struct Snake {
    #[setting(default = 1e-9)]
    eps: f32,
}

#[model_graph(dims(C = 4, N = 8))]
struct Model {
    #[input]
    x: Tensor<f32, C, N>,
    #[weight]
    a: Tensor<f32, C>,
    #[output(Snake)]
    y: _,
}

fn main() {}
