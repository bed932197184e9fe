//! Tensors as fields of models are declared.

use model_graph::operator;

#[operator(fn(x: Tensor<f32, N, M>, y: f32[N]) -> Tensor<f32, N>, in_place = y)]
struct Snake;

#[operator(fn(x: f32(N)) -> f32(N))]
struct Other;

fn main() {}
