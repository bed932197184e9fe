//! Arithmetic in a type stands in braces.

use model_graph::model_graph;

#[model_graph(dims(N = 4))]
struct Model {
    #[input]
    x: Tensor<f32, 2 * N>,
    #[output(relu(x))]
    y: _,
}

fn main() {}
