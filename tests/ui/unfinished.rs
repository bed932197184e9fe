//! An expression that stops in the middle.

use model_graph::model_graph;

#[model_graph]
struct Model {
    #[input]
    x: Tensor<f32, 4>,
    #[output(x + )]
    y: _,
}

fn main() {}
