//! An element type that the operator does not take.

use model_graph::model_graph;

#[model_graph]
struct Model {
    #[input]
    x: Tensor<i32, 4>,
    #[output(relu(x))]
    y: _,
}

fn main() {}
