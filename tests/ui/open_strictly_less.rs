//! Bounds are the largest value, and the least is 1.

use model_graph::model_graph;

#[model_graph(dims(SEQ < 512))]
struct Model {
    #[input]
    x: Tensor<f32, SEQ, 4>,
    #[output(x + 1)]
    y: _,
}

fn main() {}
