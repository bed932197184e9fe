//! A slice that reaches outside.

use model_graph::model_graph;

#[model_graph]
struct Model {
    #[input]
    p: Tensor<f32, 4>,
    #[output(slice(p, start = 2, end = 5))]
    y: _,
}

fn main() {}
