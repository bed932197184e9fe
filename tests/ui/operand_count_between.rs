//! An operator with an optional operand.

use model_graph::model_graph;

#[model_graph]
struct Model {
    #[input]
    x: Tensor<f32, 4>,
    #[output(conv2d(x, x, x, x))]
    y: _,
}

fn main() {}
