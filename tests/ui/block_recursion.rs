//! A model within itself.

use model_graph::model_graph;

#[model_graph]
struct Model {
    #[input]
    x: Tensor<f32, 4>,
    #[output(Model(x))]
    y: _,
}

fn main() {}
