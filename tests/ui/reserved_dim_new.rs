//! A dim with the name of a method.

use model_graph::model_graph;

#[model_graph(dims(new = 4))]
struct Model {
    #[input]
    x: Tensor<f32, new>,
    #[output(relu(x))]
    y: _,
}

fn main() {}
