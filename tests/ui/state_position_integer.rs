//! A position that is an integer of another type.

use model_graph::model_graph;

#[model_graph]
struct Model {
    #[input]
    x: Tensor<f32, 2, 3>,
    #[state]
    s: Tensor<f32, 4, 3>,
    #[input]
    at: Tensor<i32>,
    #[output(write(s, src = x, at = at))]
    y: _,
}

fn main() {}
