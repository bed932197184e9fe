//! An alignment that is less than an element.

use model_graph::model_graph;

#[model_graph(align = 2)]
struct Model {
    #[input]
    x: Tensor<f32, 4>,
    #[output(relu(x))]
    y: _,
}

fn main() {}
