//! An extent of a block's constant that is bound.

use model_graph::model_graph;

#[model_graph(dims(D = 4))]
struct Block {
    #[input]
    x: Tensor<f32, D>,
    #[constant([1.0; 4])]
    w: Tensor<f32, D>,
    #[output(x * w)]
    y: _,
}

#[model_graph]
struct Model {
    #[input]
    x: Tensor<f32, 8>,
    #[output(Block<D = 8>(x))]
    y: _,
}

fn main() {}
