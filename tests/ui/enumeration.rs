//! An enumeration.

use model_graph::model_graph;

#[model_graph]
enum Model {
    A,
}

fn main() {}
