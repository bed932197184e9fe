//! Queries that have no place among the keys.

use model_graph::model_graph;

#[model_graph]
struct Model {
    #[input]
    at: Tensor<u32>,
    #[input]
    q: Tensor<f32, 2, 9, 8>,
    #[input]
    k: Tensor<f32, 2, 7, 8>,
    #[output(attention(q, k, k, past = at, causal = true))]
    y: _,
}

fn main() {}
