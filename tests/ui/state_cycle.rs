//! What a state is set to depends on what comes after it.

use model_graph::model_graph;

#[model_graph]
struct Model {
    #[input]
    x: Tensor<f32, 2, 3>,
    #[state]
    s: Tensor<f32, 2, 3>,
    #[node(write(s, after))]
    next: _,
    #[node(s + x)]
    after: _,
    #[output(after)]
    y: _,
}

fn main() {}
