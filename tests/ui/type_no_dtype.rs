//! `Tensor` without an element type.

use model_graph::model_graph;

#[model_graph]
struct Model {
    #[input]
    x: Tensor<4, 4>,
    #[output(relu(x))]
    y: _,
}

fn main() {}
