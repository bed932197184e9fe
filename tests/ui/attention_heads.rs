//! Query heads that the keys cannot be shared by.

use model_graph::model_graph;

#[model_graph]
struct Model {
    #[input]
    q: Tensor<f32, 3, 5, 8>,
    #[input]
    k: Tensor<f32, 2, 5, 8>,
    #[output(attention(q, k, k))]
    y: _,
}

fn main() {}
