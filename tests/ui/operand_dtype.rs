//! An element type that the operator does not take.

use model_graph::model_graph;

#[model_graph]
struct Model {
    #[input]
    n: Tensor<i32, 4>,
    #[output(sigmoid(n))]
    y: _,
}

fn main() {}
