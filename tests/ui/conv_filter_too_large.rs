//! A filter larger than the image.

use model_graph::model_graph;

#[model_graph]
struct Model {
    #[input]
    x: Tensor<f32, 1, 3, 8, 8>,
    #[weight]
    w: Tensor<f32, 4, 3, 9, 9>,
    #[output(conv2d(x, w, stride = 2))]
    y: _,
}

fn main() {}
