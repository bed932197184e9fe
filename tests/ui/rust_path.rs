//! A path.

use model_graph::model_graph;

#[model_graph]
struct Model {
    #[input]
    x: Tensor<f32, 4>,
    #[output(ops::relu(x))]
    y: _,
}

fn main() {}
