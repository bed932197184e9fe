//! Arithmetic that goes below zero.

use model_graph::model_graph;

#[model_graph(dims(N = 4))]
struct Model {
    #[input]
    x: Tensor<f32, { N - 5 }>,
    #[output(relu(x))]
    y: _,
}

fn main() {}
