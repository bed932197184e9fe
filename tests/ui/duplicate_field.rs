//! Two tensors of one name.

use model_graph::model_graph;

#[model_graph]
struct Model {
    #[input]
    x: Tensor<f32, 4>,
    #[weight]
    w: Tensor<f32, 4>,
    #[weight]
    w: Tensor<f32, 4>,
    #[output(x * w)]
    y: _,
}

fn main() {}
