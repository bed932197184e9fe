//! A picture where a sequence is meant, and filters of other channels.

use model_graph::model_graph;

#[model_graph]
struct Model {
    #[input]
    picture: Tensor<f32, 1, 3, 8, 8>,
    #[input]
    x: Tensor<f32, 1, 3, 8>,
    #[weight]
    w: Tensor<f32, 4, 2, 3>,
    #[output(conv1d(picture, w))]
    y: _,
    #[output(conv1d(x, w))]
    z: _,
}

fn main() {}
