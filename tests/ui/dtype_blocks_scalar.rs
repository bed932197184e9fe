//! A weight in blocks without a dimension for them.

use model_graph::model_graph;

#[model_graph]
struct Model {
    #[input]
    x: Tensor<f32, 4>,
    #[weight]
    w: Tensor<q8_0>,
    #[output(x * w)]
    y: _,
}

fn main() {}
