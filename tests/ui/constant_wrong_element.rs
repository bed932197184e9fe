//! A constant of another element type.

use model_graph::model_graph;

#[model_graph]
struct Model {
    #[input]
    x: Tensor<f32, 4>,
    #[constant([1, 2, 3, 4])]
    c: Tensor<f32, 4>,
    #[output(x * c)]
    y: _,
}

fn main() {}
