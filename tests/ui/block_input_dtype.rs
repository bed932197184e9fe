//! A block is given what only has another element type.

use model_graph::model_graph;

#[model_graph]
struct Block {
    #[input]
    position: Tensor<u32>,
    #[output(position + 1)]
    y: _,
}

#[model_graph]
struct Model {
    #[input]
    position: Tensor<i64>,
    #[output(Block(position))]
    y: _,
}

fn main() {}
