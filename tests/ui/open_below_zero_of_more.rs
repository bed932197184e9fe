//! A multiple of an open dim that some values would make negative.

use model_graph::model_graph;

#[model_graph(dims(SEQ <= 512))]
struct Model {
    #[input]
    x: Tensor<f32, { 2 * SEQ - 3 }>,
    #[output(x + 1)]
    y: _,
}

fn main() {}
