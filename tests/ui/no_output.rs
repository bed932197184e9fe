//! A model without an output.

use model_graph::model_graph;

#[model_graph]
struct Model {
    #[input]
    x: Tensor<f32, 4>,
    #[node(relu(x))]
    h: _,
}

fn main() {}
