//! An operator that another module keeps to itself.

use model_graph::{model_graph};

mod elsewhere {
    use model_graph::operator;

    #[operator(fn(x: f32[.., C, N], a: f32[C]) -> f32[.., C, N])]
    struct Snake;
}

#[model_graph(dims(C = 4, N = 8))]
struct Model {
    #[input]
    x: Tensor<f32, C, N>,
    #[weight]
    a: Tensor<f32, C>,
    #[output(elsewhere::Snake(x, a))]
    y: _,
}

fn main() {}
