//! A setting given twice.

use model_graph::model_graph;

#[model_graph(align = 64, align = 32)]
struct Model {
    #[input]
    x: Tensor<f32, 4>,
    #[output(relu(x))]
    y: _,
}

fn main() {}
