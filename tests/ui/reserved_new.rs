//! A tensor with the name of a method that every model has.

use model_graph::model_graph;

#[model_graph]
struct Model {
    #[input]
    new: Tensor<f32, 4>,
    #[output(relu(new))]
    y: _,
}

fn main() {}
