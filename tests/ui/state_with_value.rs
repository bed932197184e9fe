//! A state with a value.

use model_graph::model_graph;

#[model_graph]
struct Model {
    #[input]
    x: Tensor<f32, 2, 3>,
    #[state(0.0)]
    s: Tensor<f32, 2, 3>,
    #[output(write(s, x))]
    y: _,
}

fn main() {}
