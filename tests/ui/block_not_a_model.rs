//! A struct that is no model.

use model_graph::model_graph;

struct Plain;

#[model_graph]
struct Model {
    #[input]
    x: Tensor<f32, 4>,
    #[output(Plain(x))]
    y: _,
}

fn main() {}
