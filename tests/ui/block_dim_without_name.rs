//! A dim bound by its place.

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
    #[output(Block<4>(x))]
    y: _,
}

fn main() {}
