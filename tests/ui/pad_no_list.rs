//! One number for a list.

use model_graph::model_graph;

#[model_graph]
struct Model {
    #[input]
    x: Tensor<f32, 2, 3>,
    #[output(pad(x, before = 1))]
    y: _,
}

fn main() {}
