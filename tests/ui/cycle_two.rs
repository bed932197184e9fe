//! Two tensors that depend on each other.

use model_graph::model_graph;

#[model_graph]
struct Model {
    #[input]
    x: Tensor<f32, 4>,
    #[node(x + b)]
    a: Tensor<f32, 4>,
    #[node(relu(a))]
    b: Tensor<f32, 4>,
    #[output(relu(b))]
    y: _,
}

fn main() {}
