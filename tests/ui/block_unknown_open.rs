//! The macro of a block is not found, in a model with an open dim.

use model_graph::model_graph;

#[model_graph(dims(SEQ <= 16))]
struct Model {
    #[input]
    x: Tensor<f32, SEQ, 8>,
    #[chain(x, N = SEQ)]
    layers: [Blok; 4],
    #[output(layers * 2)]
    y: _,
}

fn main() {}
