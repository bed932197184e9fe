//! A method call.

use model_graph::model_graph;

#[model_graph]
struct Model {
    #[input]
    x: Tensor<f32, 4>,
    #[output(x.relu())]
    y: _,
}

fn main() {}
