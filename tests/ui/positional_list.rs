//! A list without the name of its setting.

use model_graph::model_graph;

#[model_graph]
struct Model {
    #[input]
    x: Tensor<f32, 4>,
    #[output(reshape(x, [2, 2]))]
    y: _,
}

fn main() {}
