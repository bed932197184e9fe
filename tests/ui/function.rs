//! A function.

use model_graph::model_graph;

#[model_graph]
fn model() {}

fn main() {}
