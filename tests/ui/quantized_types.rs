//! Quantised operators take integers, and scales of numbers.

use model_graph::model_graph;

#[model_graph]
struct Numbers {
    #[input]
    x: Tensor<f32, 1, 8, 8, 3>,
    #[weight]
    w: Tensor<i8, 4, 3, 3, 3>,
    #[output(q_conv2d(x, w, 0.5, 0.25, 0.125))]
    y: _,
}

#[model_graph]
struct Unscaled {
    #[input]
    x: Tensor<i8, 2, 8>,
    #[weight]
    w: Tensor<i8, 4, 8>,
    #[weight]
    bias: Tensor<f32, 4>,
    #[output(q_linear(x, w, 0.5, 0.25, 0.125, bias))]
    y: _,
}

fn main() {}
