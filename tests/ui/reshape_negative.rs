//! -1 where `_` is meant.

use model_graph::model_graph;

#[model_graph]
struct Model {
    #[input]
    x: Tensor<f32, 4>,
    #[output(reshape(x, shape = [-1, 2]))]
    y: _,
}

fn main() {}
