//! A mask for another number of keys.

use model_graph::model_graph;

#[model_graph]
struct Model {
    #[input]
    q: Tensor<f32, 2, 5, 8>,
    #[input]
    k: Tensor<f32, 2, 7, 8>,
    #[input]
    mask: Tensor<f32, 5, 6>,
    #[output(attention(q, k, k, mask))]
    y: _,
}

fn main() {}
