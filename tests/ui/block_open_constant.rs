//! A constant with an open extent.

use model_graph::model_graph;

#[model_graph(dims(D = _))]
struct Block {
    #[input]
    x: Tensor<f32, D>,
    #[constant([1.0; 4])]
    w: Tensor<f32, D>,
    #[output(x * w)]
    y: _,
}

fn main() {}
