//! An operand after a setting.

use model_graph::model_graph;

#[model_graph]
struct Model {
    #[input]
    x: Tensor<f32, 4>,
    #[output(concat(axis = 0, x, x))]
    y: _,
}

fn main() {}
