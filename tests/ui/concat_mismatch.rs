//! Parts that do not fit beside each other.

use model_graph::model_graph;

#[model_graph]
struct Model {
    #[input]
    a: Tensor<f32, 2, 3>,
    #[input]
    b: Tensor<f32, 2, 4>,
    #[output(concat(a, b, axis = 0))]
    y: _,
}

fn main() {}
