//! Integers as numbers to compute with.

use model_graph::model_graph;

#[model_graph]
struct Model {
    #[input]
    x: Tensor<f32, 1, 3, 8, 8>,
    #[weight]
    w: Tensor<f32, 4, 3, 3, 3>,
    #[input]
    i: Tensor<i32, 2>,
    #[output(i as f32)]
    y: _,
}

fn main() {}
