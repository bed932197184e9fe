//! Inputs of a block by their names.

use model_graph::model_graph;

#[model_graph(dims(D = 3))]
struct Block {
    #[input]
    x: Tensor<f32, 2, D>,
    #[input]
    mask: Tensor<f32, D>,
    #[output(x * mask)]
    y: _,
}

#[model_graph]
struct Model {
    #[input]
    x: Tensor<f32, 2, 3>,
    #[input]
    m: Tensor<f32, 3>,
    #[chain(x, mask = m)]
    layers: [Block; 2],
    #[output(Block(x, mask = m))]
    y: _,
}

fn main() {}
