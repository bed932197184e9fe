//! A broken block is complained of once, however often it is used.

use model_graph::model_graph;

#[model_graph(dims(D = 4))]
struct Block {
    #[input]
    x: Tensor<f32, D>,
    #[weight]
    w: Tensor<f32, D>,
    #[output(x * v)]
    y: _,
}

#[model_graph]
struct Model {
    #[input]
    x: Tensor<f32, 4>,
    #[output(Block(x) + Block(x))]
    y: _,
}

#[model_graph]
struct Outer {
    #[input]
    x: Tensor<f32, 4>,
    #[output(Model(x))]
    y: _,
}

fn main() {}
