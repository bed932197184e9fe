//! A product that overflows.

use model_graph::model_graph;

#[model_graph(dims(N = 4294967296))]
struct Model {
    #[input]
    x: Tensor<f32, { N * N * N }>,
    #[output(relu(x))]
    y: _,
}

fn main() {}
