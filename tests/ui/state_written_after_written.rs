//! A write of the version before, which is written already.

use model_graph::model_graph;

#[model_graph]
struct Model {
    #[input]
    x: Tensor<f32, 2, 3>,
    #[state]
    s: Tensor<f32, 4, 3>,
    #[node(write(s, src = x, at = 0))]
    first: _,
    #[node(write(s, src = x, at = 2))]
    second: _,
    #[output(write(first, src = x, at = 1))]
    y: _,
}

fn main() {}
