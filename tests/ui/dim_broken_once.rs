//! A dim whose value cannot be found is complained of once, not at each use.

use model_graph::model_graph;

#[model_graph(dims(N = 4, M = N / 3))]
struct Model {
    #[input]
    x: Tensor<f32, M, { M * 2 }>,
    #[output(relu(x))]
    y: _,
}

fn main() {}
