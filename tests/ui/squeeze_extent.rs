//! A dimension that is not of extent 1.

use model_graph::model_graph;

#[model_graph]
struct Model {
    #[input]
    x: Tensor<f32, 2, 1>,
    #[output(squeeze(x, axes = 0))]
    y: _,
}

fn main() {}
