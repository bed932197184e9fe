//! Shapes that do not go together.

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
    b: Tensor<f32, 3>,
    #[output(Snake(x, b))]
    y: _,
}

fn main() {}
