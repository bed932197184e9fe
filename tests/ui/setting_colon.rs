//! A setting written with a colon.

use model_graph::model_graph;

#[model_graph]
struct Model {
    #[input]
    x: Tensor<f32, 4>,
    #[output(softmax(x, axis: 0))]
    y: _,
}

fn main() {}
