//! An order that is not there.

use model_graph::model_graph;

#[model_graph(order = "least")]
struct Model {
    #[input]
    x: Tensor<f32, 4>,
    #[output(relu(x))]
    y: _,
}

fn main() {}
