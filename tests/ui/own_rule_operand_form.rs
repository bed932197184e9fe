//! Operands without names or types.

use model_graph::operator;

#[operator(fn(f32[N], w, v: Tensor<f32, 4>) -> f32[N])]
struct Snake;

fn main() {}
