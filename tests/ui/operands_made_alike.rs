//! Two operands that are made by the same operator, of other element types.

use model_graph::model_graph;

#[model_graph]
struct Model {
    #[input]
    q: Tensor<f16, 5, 2, 8>,
    #[input]
    k: Tensor<f32, 5, 2, 8>,
    #[output(attention(permute(q, axes = [1, 0, 2]), permute(k, axes = [1, 0, 2]), permute(k, axes = [1, 0, 2])))]
    y: _,
}

fn main() {}
