//! A scalar declared where the expression gives a vector.

use model_graph::model_graph;

#[model_graph]
struct Model {
    #[input]
    x: Tensor<f32, 4>,
    #[output(relu(x))]
    y: Tensor<f32>,
}

fn main() {}
