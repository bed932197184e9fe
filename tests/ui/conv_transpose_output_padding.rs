//! More output padding than a stride.

use model_graph::model_graph;

#[model_graph]
struct Model {
    #[input]
    x: Tensor<f32, 1, 3, 8>,
    #[weight]
    w: Tensor<f32, 3, 4, 2>,
    #[output(conv_transpose1d(x, w, stride = 2, output_padding = 2))]
    y: _,
}

fn main() {}
