//! An operand that is given in its place and by name.

use model_graph::model_graph;

#[model_graph]
struct Model {
    #[input]
    x: Tensor<f32, 2, 3>,
    #[state]
    s: Tensor<f32, 4, 3>,
    #[output(write(s, x, src = x))]
    y: _,
}

fn main() {}
