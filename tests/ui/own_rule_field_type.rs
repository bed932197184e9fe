//! Tensors written as a model's fields are: one error for a rule, whatever hangs on it.

use model_graph::operator;

#[operator(fn(x: Tensor<f32, C>) -> Tensor<f32, C>)]
struct Snake;

#[operator(fn(x: f32[.., C, N], a?: Tensor<f32 | f16, { 2 * C }, 1>, b: Tensor<f32>) -> Tensor<f32, C>, in_place = b)]
struct Beta;

#[operator(fn(x: f32[N]) -> Tensor<f32, N>, strided = [x, y])]
struct Gamma;

fn main() {}
