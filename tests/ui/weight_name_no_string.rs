//! A weight's name that is no string.

use model_graph::model_graph;

#[model_graph]
struct Model {
    #[input]
    x: Tensor<f32, 4>,
    #[weight(name = x)]
    w: Tensor<f32, 4>,
    #[output(x * w)]
    y: _,
}

fn main() {}
