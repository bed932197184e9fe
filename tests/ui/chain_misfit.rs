//! A chain whose output does not fit its input.

use model_graph::model_graph;

#[model_graph(dims(D = 4))]
struct Block {
    #[input]
    x: Tensor<f32, D>,
    #[weight]
    w: Tensor<f32, D>,
    #[output(reshape(x * w, shape = [2, 2]))]
    y: _,
}

#[model_graph]
struct Model {
    #[input]
    x: Tensor<f32, 4>,
    #[chain(x)]
    layers: [Block; 2],
    #[output(relu(layers))]
    y: _,
}

fn main() {}
