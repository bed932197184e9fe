//! A number beside a truth value.

use model_graph::model_graph;

#[model_graph]
struct Model {
    #[input]
    x: Tensor<bool, 4>,
    #[output(x & 1)]
    y: _,
}

fn main() {}
