//! A model without tensors.

use model_graph::model_graph;

#[model_graph]
struct Model {
    
}

fn main() {}
