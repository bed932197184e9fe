//! Copies of a block, and nothing that goes through them.

use model_graph::model_graph;

#[model_graph]
struct Block {
    #[input]
    x: Tensor<f32, 8>,
    #[output(relu(x))]
    y: _,
}

#[model_graph]
struct Model {
    #[input]
    x: Tensor<f32, 8>,
    layers: [Block; 4],
    #[output(layers * 2)]
    y: _,
}

fn main() {}
