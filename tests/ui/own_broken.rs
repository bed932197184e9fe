//! What is wrong with an operator is said once, where it is declared.

use model_graph::{model_graph, operator};

#[operator(fn(x: f32[.., C, N], a: f32[C]) -> f32[.., C, M])]
struct Snake;

#[model_graph(dims(C = 4, N = 8))]
struct Model {
    #[input]
    x: Tensor<f32, C, N>,
    #[weight]
    a: Tensor<f32, C>,
    #[output(Snake(x, a))]
    y: _,
}

fn main() {}
