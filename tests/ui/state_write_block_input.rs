//! A write of a block's input, which may be a state where the block is used.

use model_graph::model_graph;

#[model_graph]
struct Block {
    #[input]
    cache: Tensor<f32, 4, 3>,
    #[input]
    x: Tensor<f32, 2, 3>,
    #[output(write(cache, src = x, at = 0))]
    y: _,
}

#[model_graph]
struct Model {
    #[state]
    s: Tensor<f32, 4, 3>,
    #[input]
    x: Tensor<f32, 2, 3>,
    #[node(Block(s, x))]
    b: _,
    #[output(b)]
    y: _,
}

fn main() {}
