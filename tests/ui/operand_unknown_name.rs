//! An operand by a name that the operator does not have.

use model_graph::model_graph;

#[model_graph]
struct Model {
    #[input]
    x: Tensor<f32, 2, 3>,
    #[state]
    s: Tensor<f32, 4, 3>,
    #[output(write(s, srcs = x, at = 0))]
    y: _,
}

fn main() {}
