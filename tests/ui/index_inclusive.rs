//! An inclusive range.

use model_graph::model_graph;

#[model_graph]
struct Model {
    #[input]
    x: Tensor<f32, 4>,
    #[output(x[0..=2])]
    y: _,
}

fn main() {}
