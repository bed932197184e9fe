//! A constant of another shape; the error is at the user's expression.

use model_graph::model_graph;

#[model_graph]
struct Model {
    #[input]
    x: Tensor<f32, 4>,
    #[constant([1.0, 2.0, 3.0])]
    c: Tensor<f32, 4>,
    #[output(x * c)]
    y: _,
}

fn main() {}
