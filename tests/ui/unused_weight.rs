//! A weight that no output depends on: a warning, which the case denies in order to see it.

#![deny(deprecated)]

use model_graph::model_graph;

#[model_graph]
struct Model {
    #[input]
    x: Tensor<f32, 4>,
    #[weight]
    w: Tensor<f32, 4>,
    #[output(relu(x))]
    y: _,
}

fn main() {}
