//! States, constants and results in blocks.

use model_graph::model_graph;

#[model_graph]
struct Model {
    #[input]
    x: Tensor<f32, 4, 32>,
    #[state]
    s: Tensor<q8_0, 4, 32>,
    #[constant([[1.0; 32]; 4])]
    c: Tensor<q4_0, 4, 32>,
    #[node(x + 1)]
    h: Tensor<q8_0, 4, 32>,
    #[output(x)]
    y: Tensor<q4_0, 4, 32>,
}

fn main() {}
