//! An element type that is planned.

use model_graph::model_graph;

#[model_graph]
struct Model {
    #[input]
    x: Tensor<f16, 4>,
    #[output(relu(x))]
    y: _,
}

fn main() {}
