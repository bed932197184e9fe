//! A cast to an element type that only weights have.

use model_graph::model_graph;

#[model_graph]
struct Model {
    #[input]
    x: Tensor<f32, 4>,
    #[output(x as q8_0)]
    y: _,
}

fn main() {}
