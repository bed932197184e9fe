//! An open extent stretches nothing, even where it can only be 1.

use model_graph::model_graph;

#[model_graph(dims(ONE <= 1, SEQ <= 4))]
struct Model {
    #[input]
    x: Tensor<f32, ONE, 4>,
    #[input]
    z: Tensor<f32, SEQ, 4>,
    #[output(x + z)]
    y: _,
}

fn main() {}
