//! A function that is not there.

use model_graph::model_graph;

#[model_graph]
struct Model {
    #[input]
    x: Tensor<f32, 4>,
    #[constant(fill = buffer)]
    c: Tensor<f32, 4>,
    #[output(x * c)]
    y: _,
}

fn main() {}
