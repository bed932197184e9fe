//! A question mark.

use model_graph::model_graph;

#[model_graph]
struct Model {
    #[input]
    x: Tensor<f32, 4>,
    #[output(relu(x)?)]
    y: _,
}

fn main() {}
