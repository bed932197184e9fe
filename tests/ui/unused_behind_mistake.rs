//! Where something else is wrong nothing is called unused: the mistake may be why.

#![deny(deprecated)]

use model_graph::model_graph;

#[model_graph]
struct Model {
    #[input]
    x: Tensor<f32, 4>,
    #[weight]
    w: Tensor<f32, 4>,
    #[output(x * v)]
    y: _,
}

fn main() {}
