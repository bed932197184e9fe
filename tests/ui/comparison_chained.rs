//! Comparisons one after the other.

use model_graph::model_graph;

#[model_graph]
struct Model {
    #[input]
    x: Tensor<f32, 4>,
    #[output(0 < x < 1)]
    y: _,
}

fn main() {}
