//! An attribute that resembles a role.

use model_graph::model_graph;

#[model_graph]
struct Model {
    #[inptu]
    x: Tensor<f32, 4>,
    #[output(relu(x))]
    y: _,
}

fn main() {}
