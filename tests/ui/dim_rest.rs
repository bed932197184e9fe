//! A division that leaves a rest.

use model_graph::model_graph;

#[model_graph(dims(N = 4))]
struct Model {
    #[input]
    x: Tensor<f32, { N / 3 }>,
    #[output(relu(x))]
    y: _,
}

fn main() {}
