//! Padding that does not say by how much.

use model_graph::model_graph;

#[model_graph]
struct Model {
    #[input]
    x: Tensor<f32, 2, 3>,
    #[output(pad(x, value = 1))]
    y: _,
}

fn main() {}
