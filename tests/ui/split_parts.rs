//! Parts that an extent does not divide into.

use model_graph::model_graph;

#[model_graph]
struct Model {
    #[input]
    x: Tensor<f32, 2, 10>,
    #[output(split(x, axis = 1, parts = 3)[0])]
    y: _,
}

fn main() {}
