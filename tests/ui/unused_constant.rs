//! A constant that no output depends on.

#![deny(deprecated)]

use model_graph::model_graph;

#[model_graph]
struct Model {
    #[input]
    x: Tensor<f32, 4>,
    #[constant([0.0; 4])]
    c: Tensor<f32, 4>,
    #[output(relu(x))]
    y: _,
}

fn main() {}
