//! The declared element type is not what the expression gives.

use model_graph::model_graph;

#[model_graph]
struct Model {
    #[input]
    x: Tensor<f32, 4>,
    #[output(relu(x))]
    y: Tensor<i32, 4>,
}

fn main() {}
