//! A constant of Rust.

use model_graph::model_graph;

#[model_graph]
struct Model {
    #[input]
    x: Tensor<f32, 8>,
    #[output(x * std::f32::consts::PI)]
    y: _,
}

fn main() {}
