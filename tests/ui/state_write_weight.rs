//! A write of a weight.

use model_graph::model_graph;

#[model_graph]
struct Model {
    #[input]
    x: Tensor<f32, 2, 3>,
    #[weight]
    w: Tensor<f32, 2, 3>,
    #[output(write(w, x))]
    y: _,
}

fn main() {}
