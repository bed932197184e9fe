//! A Rust type where a tensor is meant.

use model_graph::model_graph;

#[model_graph]
struct Model {
    #[input]
    x: [f32; 4],
    #[output(relu(x))]
    y: _,
}

fn main() {}
