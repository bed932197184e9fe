//! Two operands without a comma between them.

use model_graph::model_graph;

#[model_graph]
struct Model {
    #[input]
    x: Tensor<f32, 4>,
    #[output(matmul(x x))]
    y: _,
}

fn main() {}
