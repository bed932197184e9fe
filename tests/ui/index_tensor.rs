//! A tensor as an index.

use model_graph::model_graph;

#[model_graph]
struct Model {
    #[input]
    x: Tensor<f32, 4>,
    #[output(x[x])]
    y: _,
}

fn main() {}
