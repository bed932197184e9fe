//! An operand in its place after one by name.

use model_graph::model_graph;

#[model_graph]
struct Model {
    #[input]
    x: Tensor<f32, 2, 3>,
    #[state]
    s: Tensor<f32, 4, 3>,
    #[output(write(s, src = x, 0))]
    y: _,
}

fn main() {}
