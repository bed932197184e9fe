//! `#[keep]` where `#[input(keep)]` is meant.

use model_graph::model_graph;

#[model_graph]
struct Model {
    #[keep]
    #[input]
    x: Tensor<f32, 4>,
    #[output(relu(x))]
    y: _,
}

fn main() {}
