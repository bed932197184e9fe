//! A weight that lies the other way round.

use model_graph::model_graph;

#[model_graph]
struct Model {
    #[input]
    x: Tensor<f32, 4>,
    #[weight]
    w: Tensor<q8_0, 64, 8>,
    #[weight]
    b: Tensor<f32, 8>,
    #[output(linear(x, w, b))]
    y: _,
}

fn main() {}
