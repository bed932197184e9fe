//! A field without a colon; its uses are not complained of as well.

use model_graph::model_graph;

#[model_graph]
struct Model {
    #[input]
    x Tensor<f32, 4>,
    #[output(relu(x))]
    y: _,
}

fn main() {}
