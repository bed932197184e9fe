//! All of a state set to something smaller.

use model_graph::model_graph;

#[model_graph]
struct Model {
    #[input]
    x: Tensor<f32, 2, 3>,
    #[state]
    s: Tensor<f32, 4, 3>,
    #[output(write(s, x))]
    y: _,
}

fn main() {}
