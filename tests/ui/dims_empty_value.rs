//! A dim whose value is missing.

use model_graph::model_graph;

#[model_graph(dims(N = ))]
struct Model {
    #[input]
    x: Tensor<f32, N>,
    #[output(relu(x))]
    y: _,
}

fn main() {}
