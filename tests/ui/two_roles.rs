//! Two roles for one tensor.

use model_graph::model_graph;

#[model_graph]
struct Model {
    #[input]
    #[weight]
    x: Tensor<f32, 4>,
    #[output(relu(x))]
    y: _,
}

fn main() {}
