//! An operator sign that the language does not have.

use model_graph::model_graph;

#[model_graph]
struct Model {
    #[input]
    x: Tensor<f32, 4>,
    #[output(x % 2)]
    y: _,
}

fn main() {}
