//! Arithmetic that has no formula of one open dim.

use model_graph::model_graph;

#[model_graph(dims(A <= 8, B <= 8))]
struct Model {
    #[input]
    a: Tensor<f32, A>,
    #[input]
    b: Tensor<f32, B>,
    #[input]
    sum: Tensor<f32, { A + B }>,
    #[input]
    product: Tensor<f32, { A * B }>,
    #[input]
    half: Tensor<f32, { A / 2 }>,
    #[input]
    rest: Tensor<f32, { 8 - A }>,
    #[input]
    parts: Tensor<f32, { 8 / A }>,
    #[output(a + 1)]
    y: _,
}

fn main() {}
