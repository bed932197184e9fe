//! A node that no output depends on.

#![deny(deprecated)]

use model_graph::model_graph;

#[model_graph]
struct Model {
    #[input]
    x: Tensor<f32, 4>,
    #[node(x * 2)]
    h: _,
    #[output(relu(x))]
    y: _,
}

fn main() {}
