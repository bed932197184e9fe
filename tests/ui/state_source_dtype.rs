//! A source of another element type.

use model_graph::model_graph;

#[model_graph]
struct Model {
    #[input]
    x: Tensor<u8, 4, 3>,
    #[state]
    s: Tensor<f32, 4, 3>,
    #[output(write(s, x))]
    y: _,
}

fn main() {}
