//! A dim with the name of the constant that every model has.

use model_graph::model_graph;

#[model_graph(dims(PLAN = 4))]
struct Model {
    #[input]
    x: Tensor<f32, PLAN>,
    #[output(relu(x))]
    y: _,
}

fn main() {}
