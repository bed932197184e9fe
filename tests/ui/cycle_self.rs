//! A tensor that depends on itself.

use model_graph::model_graph;

#[model_graph]
struct Model {
    #[input]
    x: Tensor<f32, 4>,
    #[output(x + y)]
    y: Tensor<f32, 4>,
}

fn main() {}
