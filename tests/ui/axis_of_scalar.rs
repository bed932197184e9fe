//! An axis of a scalar.

use model_graph::model_graph;

#[model_graph]
struct Model {
    #[input]
    x: Tensor<f32>,
    #[output(softmax(x))]
    y: _,
}

fn main() {}
