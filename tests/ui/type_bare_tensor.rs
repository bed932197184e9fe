//! `Tensor` without parameters.

use model_graph::model_graph;

#[model_graph]
struct Model {
    #[input]
    x: Tensor,
    #[output(relu(x))]
    y: _,
}

fn main() {}
