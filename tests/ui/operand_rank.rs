//! An operand with too few dimensions.

use model_graph::model_graph;

#[model_graph]
struct Model {
    #[input]
    x: Tensor<f32, 4>,
    #[output(transpose(x))]
    y: _,
}

fn main() {}
