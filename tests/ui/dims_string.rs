//! A dim whose value is a string.

use model_graph::model_graph;

#[model_graph(dims(N = "4"))]
struct Model {
    #[input]
    x: Tensor<f32, N>,
    #[output(relu(x))]
    y: _,
}

fn main() {}
