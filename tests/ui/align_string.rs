//! An alignment that is a string.

use model_graph::model_graph;

#[model_graph(align = "64")]
struct Model {
    #[input]
    x: Tensor<f32, 4>,
    #[output(relu(x))]
    y: _,
}

fn main() {}
