//! A write of nothing.

use model_graph::model_graph;

#[model_graph]
struct Model {
    #[state]
    s: Tensor<f32, 4, 3>,
    #[output(write(s, at = 1))]
    y: _,
}

fn main() {}
