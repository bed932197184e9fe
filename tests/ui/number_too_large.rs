//! A number that no f32 holds.

use model_graph::model_graph;

#[model_graph]
struct Model {
    #[input]
    x: Tensor<f32, 4>,
    #[output(x * 1e39)]
    y: _,
}

fn main() {}
