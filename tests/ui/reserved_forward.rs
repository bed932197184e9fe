//! An output with the name of the method that computes it.

use model_graph::model_graph;

#[model_graph]
struct Model {
    #[input]
    x: Tensor<f32, 4>,
    #[output(relu(x))]
    forward: _,
}

fn main() {}
