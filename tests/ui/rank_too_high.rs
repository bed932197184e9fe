//! More dimensions than a tensor can have.

use model_graph::model_graph;

#[model_graph]
struct Model {
    #[input]
    x: Tensor<f32, 1, 2, 3, 4, 5, 6, 7>,
    #[output(relu(x))]
    y: _,
}

fn main() {}
