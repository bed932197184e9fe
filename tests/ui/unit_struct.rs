//! A unit struct.

use model_graph::model_graph;

#[model_graph]
struct Model;

fn main() {}
