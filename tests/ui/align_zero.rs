//! An alignment of zero.

use model_graph::model_graph;

#[model_graph(align = 0)]
struct Model {
    #[input]
    x: Tensor<f32, 4>,
    #[output(relu(x))]
    y: _,
}

fn main() {}
