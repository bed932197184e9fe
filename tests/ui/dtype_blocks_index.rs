//! Indices in blocks.

use model_graph::model_graph;

#[model_graph]
struct Model {
    #[input]
    x: Tensor<f32, 4, 32>,
    #[weight]
    w: Tensor<q8_0, 4, 32>,
    #[output(gather(x, w))]
    y: _,
}

fn main() {}
