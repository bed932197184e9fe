//! An attribute of another macro.

use model_graph::model_graph;

#[model_graph]
struct Model {
    #[serde(skip)]
    #[input]
    x: Tensor<f32, 4>,
    #[output(relu(x))]
    y: _,
}

fn main() {}
