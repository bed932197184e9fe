//! A mistake in twelve copies is one.

use model_graph::model_graph;

#[model_graph(dims(D = 4, HEADS = 2))]
struct Block {
    #[input]
    x: Tensor<f32, D>,
    #[weight]
    w: Tensor<f32, { D / HEADS }, 2>,
    #[output(matmul(reshape(x, shape = [2, 2]), w))]
    y: _,
}

#[model_graph]
struct Model {
    #[input]
    x: Tensor<f32, 4>,
    #[chain(x, HEADS = 3)]
    layers: [Block; 12],
    #[output(relu(layers))]
    y: _,
}

fn main() {}
