//! `_` on an input: nothing says what it is.

use model_graph::model_graph;

#[model_graph]
struct Model {
    #[input]
    x: _,
    #[output(relu(x))]
    y: _,
}

fn main() {}
