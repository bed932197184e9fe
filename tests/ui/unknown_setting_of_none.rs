//! A setting for an operator that takes none.

use model_graph::model_graph;

#[model_graph]
struct Model {
    #[input]
    x: Tensor<f32, 4>,
    #[output(relu(x, slope = 2))]
    y: _,
}

fn main() {}
