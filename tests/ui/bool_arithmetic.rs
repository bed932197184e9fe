//! Arithmetic of truth values.

use model_graph::model_graph;

#[model_graph]
struct Model {
    #[input]
    x: Tensor<f32, 4>,
    #[input]
    b: Tensor<bool, 4>,
    #[node(b + b)]
    c: _,
    #[node(x * b)]
    d: _,
    #[node(-b)]
    e: _,
    #[output(where(b, x, b))]
    y: _,
}

fn main() {}
