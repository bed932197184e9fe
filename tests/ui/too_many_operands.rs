//! An operand too many.

use model_graph::model_graph;

#[model_graph]
struct Model {
    #[input]
    x: Tensor<f32, 4>,
    #[output(relu(x, x))]
    y: _,
}

fn main() {}
