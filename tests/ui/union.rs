//! A union.

use model_graph::model_graph;

#[model_graph]
union Model {
    a: u8,
}

fn main() {}
