//! A lone dim in a setting that is not declared.

use model_graph::model_graph;

#[model_graph]
struct Model {
    #[input]
    x: Tensor<f32, 1, 1, 4, 4>,
    #[weight]
    w: Tensor<f32, 1, 1, 3, 3>,
    #[output(conv2d(x, w, stride = STEP))]
    y: _,
}

fn main() {}
