//! The weights of a convolution.

use model_graph::model_graph;

#[model_graph]
struct Model {
    #[input]
    x: Tensor<f32, 1, 3, 8, 8>,
    #[weight]
    w: Tensor<f32, 4, 3, 2, 2>,
    #[output(conv_transpose2d(x, w, stride = 2))]
    y: _,
}

fn main() {}
