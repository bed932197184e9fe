//! A state that is neither read nor written.

#![deny(deprecated)]

use model_graph::model_graph;

#[model_graph]
struct Model {
    #[input]
    x: Tensor<f32, 2, 3>,
    #[state]
    s: Tensor<f32, 4, 3>,
    #[output(relu(x))]
    y: _,
}

fn main() {}
