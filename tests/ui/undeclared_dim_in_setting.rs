//! A dim in a setting that is not declared.

use model_graph::model_graph;

#[model_graph]
struct Model {
    #[input]
    x: Tensor<f32, 4>,
    #[output(reshape(x, shape = [HALF, 2]))]
    y: _,
}

fn main() {}
