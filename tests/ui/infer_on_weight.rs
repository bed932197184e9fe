//! `_` on a weight.

use model_graph::model_graph;

#[model_graph]
struct Model {
    #[input]
    x: Tensor<f32, 4>,
    #[weight]
    w: _,
    #[output(x * w)]
    y: _,
}

fn main() {}
