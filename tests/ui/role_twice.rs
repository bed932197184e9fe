//! The same role twice.

use model_graph::model_graph;

#[model_graph]
struct Model {
    #[input]
    #[input]
    x: Tensor<f32, 4>,
    #[output(relu(x))]
    y: _,
}

fn main() {}
