//! An alignment without a value.

use model_graph::model_graph;

#[model_graph(align)]
struct Model {
    #[input]
    x: Tensor<f32, 4>,
    #[output(relu(x))]
    y: _,
}

fn main() {}
