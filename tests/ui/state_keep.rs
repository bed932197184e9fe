//! A state that is kept.

use model_graph::model_graph;

#[model_graph]
struct Model {
    #[input]
    x: Tensor<f32, 2, 3>,
    #[keep]
    #[state]
    s: Tensor<f32, 2, 3>,
    #[output(write(s, x))]
    y: _,
}

fn main() {}
