//! `Self` as an operand.

use model_graph::model_graph;

#[model_graph]
struct Model {
    #[input]
    x: Tensor<f32, 4>,
    #[output(relu(Self))]
    y: _,
}

fn main() {}
