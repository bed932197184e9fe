//! Positions that come with the inputs, as indices.

use model_graph::model_graph;

#[model_graph]
struct Model {
    #[input]
    x: Tensor<f32, 2, 3>,
    #[state]
    s: Tensor<f32, 4, 3>,
    #[input]
    at: Tensor<u32>,
    #[node(s[at])]
    a: _,
    #[node(s[at..at + 2])]
    b: _,
    #[output((x + 1)[.., at])]
    y: _,
}

fn main() {}
