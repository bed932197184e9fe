//! A block is given other elements, and other extents than it is bound to.

use model_graph::model_graph;

#[model_graph(dims(D = 4))]
struct Block {
    #[input]
    x: Tensor<f32, D>,
    #[output(x * 2)]
    y: _,
}

#[model_graph]
struct Model {
    #[input]
    x: Tensor<i8, 4>,
    #[input]
    long: Tensor<f32, 8>,
    #[input]
    square: Tensor<f32, 4, 4>,
    #[node(Block(x))]
    a: _,
    #[node(Block(long))]
    b: _,
    #[node(Block(square))]
    c: _,
    #[output(x)]
    y: _,
}

fn main() {}
