//! An extent below zero.

use model_graph::model_graph;

#[model_graph]
struct Model {
    #[input]
    x: Tensor<f32, -1>,
    #[output(relu(x))]
    y: _,
}

fn main() {}
