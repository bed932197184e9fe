//! A chain's type that is no block.

use model_graph::model_graph;

#[model_graph(dims(D = 4))]
struct Block {
    #[input]
    x: Tensor<f32, D>,
    #[weight]
    w: Tensor<f32, D>,
    #[output(x * w)]
    y: _,
}

#[model_graph]
struct Model {
    #[input]
    x: Tensor<f32, 4>,
    #[chain(x)]
    layers: [f32; 2],
    #[output(relu(x))]
    y: _,
}

fn main() {}
