//! A setting that has to be given.

use model_graph::model_graph;

#[model_graph]
struct Model {
    #[input]
    x: Tensor<f32, 4>,
    #[output(reshape(x))]
    y: _,
}

fn main() {}
