//! What lies in a block, from outside, and a field of a tensor.

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
    #[chain(x, m)]
    layers: [Block; 2],
    #[node(layers.y)]
    a: _,
    #[node(layers[0].mask)]
    b: _,
    #[output(x.T)]
    y: _,
}

fn main() {}
