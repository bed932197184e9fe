//! A scale of another length.

use model_graph::model_graph;

#[model_graph]
struct Model {
    #[input]
    x: Tensor<f32, 2, 8>,
    #[weight]
    scale: Tensor<f32, 7>,
    #[weight]
    bias: Tensor<f32, 8>,
    #[output(layer_norm(x, scale, bias))]
    y: _,
}

fn main() {}
