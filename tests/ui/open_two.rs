//! Two open dims where one is needed.

use model_graph::model_graph;

#[model_graph(dims(A <= 8, B <= 8))]
struct Model {
    #[input]
    a: Tensor<f32, 2, A>,
    #[input]
    b: Tensor<f32, 2, B>,
    #[node(a + b)]
    sum: _,
    #[node(matmul(a, transpose(b)))]
    product: _,
    #[output(a * 2)]
    y: Tensor<f32, 2, B>,
}

fn main() {}
