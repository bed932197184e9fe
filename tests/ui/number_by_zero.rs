//! A division of numbers by zero.

use model_graph::model_graph;

#[model_graph]
struct Model {
    #[input]
    x: Tensor<f32, 4>,
    #[output(x * (1 / 0))]
    y: _,
}

fn main() {}
