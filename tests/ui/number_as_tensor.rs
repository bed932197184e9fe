//! A number where the operator needs a tensor of some rank.

use model_graph::model_graph;

#[model_graph]
struct Model {
    #[input]
    x: Tensor<f32, 4>,
    #[output(x + matmul(2, x))]
    y: _,
}

fn main() {}
