//! A division by zero.

use model_graph::model_graph;

#[model_graph(dims(N = 4))]
struct Model {
    #[input]
    x: Tensor<f32, { 4 / (N - 4) }>,
    #[output(relu(x))]
    y: _,
}

fn main() {}
