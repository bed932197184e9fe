//! An axis that the operand does not have.

use model_graph::model_graph;

#[model_graph]
struct Model {
    #[input]
    x: Tensor<f32, 4>,
    #[output(softmax(x, axis = 1))]
    y: _,
}

fn main() {}
