//! Two writes of one state in one expression.

use model_graph::model_graph;

#[model_graph]
struct Model {
    #[input]
    x: Tensor<f32, 2, 3>,
    #[state]
    s: Tensor<f32, 4, 3>,
    #[output(write(s, src = x, at = 0) + write(s, src = x, at = 2))]
    y: _,
}

fn main() {}
