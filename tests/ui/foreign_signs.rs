//! Signs that other languages have.

use model_graph::model_graph;

#[model_graph]
struct Model {
    #[input]
    x: Tensor<f32, 1, 3, 8, 8>,
    #[weight]
    w: Tensor<f32, 4, 3, 3, 3>,
    #[node(x ** 2)]
    square: _,
    #[output(x @ square)]
    y: _,
}

fn main() {}
