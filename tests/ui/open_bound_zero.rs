//! An open dim without a value that it could have.

use model_graph::model_graph;

#[model_graph(dims(SEQ <= 0))]
struct Model {
    #[input]
    x: Tensor<f32, SEQ, 4>,
    #[output(x + 1)]
    y: _,
}

fn main() {}
