//! A write of what a block gives: its states are its own.

use model_graph::model_graph;

#[model_graph(dims(D = 3))]
struct Block {
    #[input]
    x: Tensor<f32, 2, D>,
    #[state]
    cache: Tensor<f32, 4, D>,
    #[node(write(cache, src = x, at = 0))]
    next: _,
    #[output(x + next[2..])]
    y: _,
}

#[model_graph]
struct Model {
    #[input]
    x: Tensor<f32, 2, 3>,
    #[chain(x)]
    layers: [Block; 2],
    #[output(write(layers, src = x) + write(Block(x), src = x))]
    y: _,
}

fn main() {}
