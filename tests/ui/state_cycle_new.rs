//! A field before the write needs what only stands after it.

use model_graph::model_graph;

#[model_graph]
struct Model {
    #[input]
    x: Tensor<f32, 2, 3>,
    #[state]
    s: Tensor<f32, 2, 3>,
    #[node(after + x)]
    early: _,
    #[node(write(s, early))]
    next: _,
    #[node(s * 2)]
    after: _,
    #[output(early)]
    y: _,
}

fn main() {}
