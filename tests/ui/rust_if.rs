//! A branch.

use model_graph::model_graph;

#[model_graph]
struct Model {
    #[input]
    x: Tensor<f32, 8>,
    #[output(if true { x } else { x * 2 })]
    y: _,
}

fn main() {}
