//! Another generic type.

use model_graph::model_graph;

#[model_graph]
struct Model {
    #[input]
    x: Vec<f32>,
    #[output(relu(x))]
    y: _,
}

fn main() {}
