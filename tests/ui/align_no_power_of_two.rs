//! An alignment that is no power of two.

use model_graph::model_graph;

#[model_graph(align = 48)]
struct Model {
    #[input]
    x: Tensor<f32, 4>,
    #[output(relu(x))]
    y: _,
}

fn main() {}
