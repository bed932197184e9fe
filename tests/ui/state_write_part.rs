//! A write of a part of a state.

use model_graph::model_graph;

#[model_graph]
struct Model {
    #[input]
    x: Tensor<f32, 2, 3>,
    #[state]
    s: Tensor<f32, 4, 3>,
    #[output(write(s[1..3], src = x))]
    y: _,
}

fn main() {}
