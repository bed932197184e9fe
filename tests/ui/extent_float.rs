//! An extent with a fraction.

use model_graph::model_graph;

#[model_graph]
struct Model {
    #[input]
    x: Tensor<f32, 2.5>,
    #[output(relu(x))]
    y: _,
}

fn main() {}
