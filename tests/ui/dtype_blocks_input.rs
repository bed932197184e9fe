//! An input in blocks.

use model_graph::model_graph;

#[model_graph]
struct Model {
    #[input]
    x: Tensor<q4_0, 4, 32>,
    #[output(x as f32)]
    y: _,
}

fn main() {}
