//! An axis named twice.

use model_graph::model_graph;

#[model_graph]
struct Model {
    #[input]
    x: Tensor<f32, 2, 3>,
    #[output(sum(x, axes = [0, -2]))]
    y: _,
}

fn main() {}
