//! `dims` without parentheses.

use model_graph::model_graph;

#[model_graph(dims = 4)]
struct Model {
    #[input]
    x: Tensor<f32, N>,
    #[output(relu(x))]
    y: _,
}

fn main() {}
