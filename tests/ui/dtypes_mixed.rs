//! Operands of two element types.

use model_graph::model_graph;

#[model_graph]
struct Model {
    #[input]
    x: Tensor<f32, 4>,
    #[input]
    n: Tensor<i32, 4>,
    #[node(x + n)]
    a: _,
    #[node(where(x > 0, n, x))]
    b: _,
    #[node(concat(x, n, axis = 0))]
    c: _,
    #[output(-x * (n + 1))]
    y: _,
}

fn main() {}
