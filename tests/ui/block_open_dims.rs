//! A block whose dims are not bound, in an expression and in a chain.

use model_graph::model_graph;

#[model_graph(dims(T = _, D = _))]
struct Block {
    #[input]
    x: Tensor<f32, T, D>,
    #[weight]
    w: Tensor<f32, D>,
    #[output(x * w)]
    y: _,
}

#[model_graph]
struct Model {
    #[input]
    x: Tensor<f32, 2, 4>,
    #[node(Block(x))]
    once: _,
    #[chain(x, T = 2)]
    layers: [Block; 2],
    #[output(once + layers)]
    y: _,
}

fn main() {}
