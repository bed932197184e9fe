//! A tensor that is not there and resembles none; the names there are get listed.

use model_graph::model_graph;

#[model_graph]
struct Model {
    #[input]
    x: Tensor<f32, 4>,
    #[output(relu(banana))]
    y: _,
}

fn main() {}
