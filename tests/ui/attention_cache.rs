//! Keys and values of attention that are of two element types, or wider than the queries.

use model_graph::model_graph;

#[model_graph]
struct Model {
    #[input]
    q: Tensor<f32, 2, 5, 8>,
    #[input]
    narrow: Tensor<f16, 2, 5, 8>,
    #[input]
    k: Tensor<f16, 2, 7, 8>,
    #[input]
    v: Tensor<bf16, 2, 7, 8>,
    #[input]
    w: Tensor<f32, 2, 7, 8>,
    #[output(attention(q, k, v))]
    a: _,
    #[output(attention(q, k, w))]
    b: _,
    #[output(attention(narrow, w, w))]
    c: _,
}

fn main() {}
