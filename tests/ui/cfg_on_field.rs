//! A field that depends on `cfg`.

use model_graph::model_graph;

#[model_graph]
struct Model {
    #[input]
    x: Tensor<f32, 4>,
    #[cfg(feature = "bias")]
    #[weight]
    b: Tensor<f32, 4>,
    #[output(x + b)]
    y: _,
}

fn main() {}
