//! A state that is reset and set within a forward.

use model_graph::model_graph;

#[model_graph]
struct Model {
    #[input]
    x: Tensor<f32, 2, 3>,
    #[state]
    s: Tensor<f32, 2, 3>,
    #[node(reset_state_of(s))]
    a: _,
    #[node(reset(s))]
    b: _,
    #[node(update(s, x))]
    c: _,
    #[output(load(s))]
    y: _,
}

fn main() {}
