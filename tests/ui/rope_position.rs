//! A position that is no whole number, and positions for another number of rows.

use model_graph::model_graph;

#[model_graph]
struct Model {
    #[input]
    at: Tensor<f32>,
    #[input]
    many: Tensor<u32, 3>,
    #[input]
    x: Tensor<f32, 2, 4, 8>,
    #[output(rope(x, at))]
    y: _,
    #[output(rope(x, many))]
    z: _,
}

fn main() {}
