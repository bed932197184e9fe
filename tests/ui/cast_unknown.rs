//! A cast to an element type that is not there.

use model_graph::model_graph;

#[model_graph]
struct Model {
    #[input]
    x: Tensor<f32, 4>,
    #[output(x as f33)]
    y: _,
}

fn main() {}
