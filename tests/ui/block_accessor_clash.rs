//! A tensor with the name of a block's weight.

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
    #[weight]
    h_w: Tensor<f32, 4>,
    #[node(Block(x))]
    h: _,
    #[output(h + h_w)]
    y: _,
}

fn main() {}
