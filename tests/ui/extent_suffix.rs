//! An extent of another integer type.

use model_graph::model_graph;

#[model_graph]
struct Model {
    #[input]
    x: Tensor<f32, 4u32>,
    #[output(relu(x))]
    y: _,
}

fn main() {}
