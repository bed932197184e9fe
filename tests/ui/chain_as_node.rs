//! Copies of a block that nothing connects.

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
    #[node(x)]
    layers: [Block; 2],
    #[output(relu(layers))]
    y: _,
}

fn main() {}
