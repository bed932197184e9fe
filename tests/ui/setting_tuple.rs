//! Two numbers in parentheses.

use model_graph::model_graph;

#[model_graph]
struct Model {
    #[input]
    x: Tensor<f32, 1, 3, 8, 8>,
    #[weight]
    w: Tensor<f32, 4, 3, 3, 3>,
    #[output(conv2d(x, w, padding = (1, 1)))]
    y: _,
}

fn main() {}
