//! The size of a result overflows.

use model_graph::model_graph;

#[model_graph]
struct Model {
    #[input]
    a: Tensor<f32, 4294967296, 1>,
    #[input]
    b: Tensor<f32, 1, 4294967296>,
    #[node(a * b)]
    t: _,
    #[output(t[0, 0])]
    y: _,
}

fn main() {}
