//! A dim declared twice.

use model_graph::model_graph;

#[model_graph(dims(N = 4, N = 5))]
struct Model {
    #[input]
    x: Tensor<f32, N>,
    #[output(relu(x))]
    y: _,
}

fn main() {}
