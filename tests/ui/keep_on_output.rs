//! `#[keep]` on what can be read anyway.

use model_graph::model_graph;

#[model_graph]
struct Model {
    #[input]
    x: Tensor<f32, 4>,
    #[keep]
    #[output(relu(x))]
    y: _,
}

fn main() {}
