//! An operand that is given twice by name.

use model_graph::model_graph;

#[model_graph]
struct Model {
    #[input]
    x: Tensor<f32, 2, 3>,
    #[state]
    s: Tensor<f32, 4, 3>,
    #[output(write(s, src = x, src = x, at = 0))]
    y: _,
}

fn main() {}
