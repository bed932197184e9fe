//! No operand at all.

use model_graph::model_graph;

#[model_graph]
struct Model {
    #[input]
    x: Tensor<f32, 4>,
    #[output(concat(axis = 0))]
    y: _,
}

fn main() {}
