//! A position that is no u32.

use model_graph::model_graph;

#[model_graph]
struct Model {
    #[input]
    x: Tensor<f32, 2, 3>,
    #[state]
    s: Tensor<f32, 4, 3>,
    #[input]
    at: Tensor<f32>,
    #[output(write(s, src = x, at = at))]
    y: _,
}

fn main() {}
