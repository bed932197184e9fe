//! An axis and no position along it.

use model_graph::model_graph;

#[model_graph]
struct Model {
    #[input]
    x: Tensor<f32, 2, 3>,
    #[state]
    s: Tensor<f32, 4, 3>,
    #[output(write(s, src = x, axis = 1))]
    y: _,
}

fn main() {}
