//! Braces without an expression.

use model_graph::model_graph;

#[model_graph]
struct Model {
    #[input]
    x: Tensor<f32, {}>,
    #[output(relu(x))]
    y: _,
}

fn main() {}
