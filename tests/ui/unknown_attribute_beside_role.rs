//! An unknown attribute before the role: one complaint.

use model_graph::model_graph;

#[model_graph]
struct Model {
    #[keeep]
    #[input]
    x: Tensor<f32, 4>,
    #[output(relu(x))]
    y: _,
}

fn main() {}
