//! A field without a role.

use model_graph::model_graph;

#[model_graph]
struct Model {
    x: Tensor<f32, 4>,
    #[output(relu(x))]
    y: _,
}

fn main() {}
