//! A state that is read and never written.

#![deny(deprecated)]

use model_graph::model_graph;

#[model_graph]
struct Model {
    #[input]
    x: Tensor<f32, 3>,
    #[state]
    h: Tensor<f32, 3>,
    /// It is set from outside.
    #[allow(unused)]
    #[state]
    bias: Tensor<f32, 3>,
    #[output(x + h + bias)]
    y: _,
}

fn main() {}
