//! An extent that no address reaches.

use model_graph::model_graph;

#[model_graph]
struct Model {
    #[input]
    x: Tensor<f32, 99999999999999999999999>,
    #[output(relu(x))]
    y: _,
}

fn main() {}
