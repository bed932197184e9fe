//! An operator where a role stands.

use model_graph::model_graph;

#[model_graph]
struct Model {
    #[input]
    x: Tensor<f32, 2, 3>,
    #[state]
    s: Tensor<f32, 2, 3>,
    #[write(s, x)]
    next: _,
    #[relu(x)]
    h: _,
    #[output(x)]
    y: _,
}

fn main() {}
