//! An extent that some values of its dim would make negative.

use model_graph::model_graph;

#[model_graph(dims(SEQ <= 512))]
struct Model {
    #[input]
    x: Tensor<f32, SEQ, 4>,
    #[input]
    z: Tensor<f32, { SEQ - 4 }>,
    #[output(x + 1)]
    y: _,
}

fn main() {}
