//! A string in an expression.

use model_graph::model_graph;

#[model_graph]
struct Model {
    #[input]
    x: Tensor<f32, 4>,
    #[output(x + "1")]
    y: _,
}

fn main() {}
