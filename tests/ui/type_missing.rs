//! A field without a type.

use model_graph::model_graph;

#[model_graph]
struct Model {
    #[input]
    x,
    #[output(relu(x))]
    y: _,
}

fn main() {}
