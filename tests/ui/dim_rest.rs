//! A division that leaves a remainder, with names and without.

use model_graph::model_graph;

#[model_graph(dims(N = 4))]
struct Model {
    #[input]
    x: Tensor<f32, { N / 3 }, { 10 / 3 }>,
    #[output(relu(x))]
    y: _,
}

fn main() {}
