//! A past that is no scalar.

use model_graph::model_graph;

#[model_graph]
struct Model {
    #[input]
    at: Tensor<u32, 1>,
    #[input]
    q: Tensor<f32, 2, 5, 8>,
    #[input]
    k: Tensor<f32, 2, 7, 8>,
    #[output(attention(q, k, k, past = at))]
    y: _,
}

fn main() {}
