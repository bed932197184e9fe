//! A write where a constant is worked out.

use model_graph::model_graph;

#[model_graph]
struct Model {
    #[input]
    x: Tensor<f32, 2, 3>,
    #[state]
    s: Tensor<f32, 4, 3>,
    #[constant(write(s, 1.0))]
    c: Tensor<f32>,
    #[output(x * c + s[..2])]
    y: _,
}

fn main() {}
