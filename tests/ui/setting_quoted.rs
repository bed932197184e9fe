//! A word in quotes, and a string that is no word.

use model_graph::model_graph;

#[model_graph]
struct Model {
    #[input]
    x: Tensor<f32, 1, 3, 8, 8>,
    #[weight]
    w: Tensor<f32, 4, 3, 3, 3>,
    #[node(conv2d(x, w, padding = "SAME"))]
    h: _,
    #[output(conv2d(x, w, padding = "1 1"))]
    y: _,
}

fn main() {}
