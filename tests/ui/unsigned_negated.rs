//! A sign before elements that have none.

use model_graph::model_graph;

#[model_graph]
struct Model {
    #[input]
    u: Tensor<u8, 4>,
    #[output(-u)]
    y: _,
}

fn main() {}
