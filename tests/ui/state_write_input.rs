//! A write of an input.

use model_graph::model_graph;

#[model_graph]
struct Model {
    #[input]
    x: Tensor<f32, 2, 3>,
    #[output(write(x, src = x * 2))]
    y: _,
}

fn main() {}
