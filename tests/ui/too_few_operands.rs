//! An operand is missing.

use model_graph::model_graph;

#[model_graph]
struct Model {
    #[input]
    x: Tensor<f32, 4>,
    #[output(matmul(x))]
    y: _,
}

fn main() {}
