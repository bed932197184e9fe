//! A state whose type is not written.

use model_graph::model_graph;

#[model_graph]
struct Model {
    #[input]
    x: Tensor<f32, 2, 3>,
    #[state]
    s: _,
    #[output(write(s, x))]
    y: _,
}

fn main() {}
