//! A tuple struct.

use model_graph::model_graph;

#[model_graph]
struct Model(Vec<f32>);

fn main() {}
