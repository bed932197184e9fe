//! An optional operand that is left out before one that is given.

use model_graph::{model_graph, operator};

#[operator(fn(x: f32[.., C, N], b?: f32[C], c?: f32[C]) -> f32[.., C, N])]
struct Blend;

#[model_graph(dims(C = 4, N = 8))]
struct Model {
    #[input]
    x: Tensor<f32, C, N>,
    #[weight]
    a: Tensor<f32, C>,
    #[output(Blend(x, c = a))]
    y: _,
}

fn main() {}
