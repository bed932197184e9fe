//! No range in the brackets.

use model_graph::model_graph;

#[model_graph]
struct Model {
    #[input]
    x: Tensor<f32, 4>,
    #[output(x[])]
    y: _,
}

fn main() {}
