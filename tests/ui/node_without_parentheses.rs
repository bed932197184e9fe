//! An expression without parentheses around it.

use model_graph::model_graph;

#[model_graph]
struct Model {
    #[input]
    x: Tensor<f32, 4>,
    #[node relu(x)]
    h: Tensor<f32, 4>,
    #[output(relu(h))]
    y: _,
}

fn main() {}
