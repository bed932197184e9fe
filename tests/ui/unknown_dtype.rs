//! An element type that is not there.

use model_graph::model_graph;

#[model_graph]
struct Model {
    #[input]
    x: Tensor<float32, 4>,
    #[output(relu(x))]
    y: _,
}

fn main() {}
