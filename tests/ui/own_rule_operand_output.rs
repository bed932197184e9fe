//! An operand called as the result is.

use model_graph::operator;

#[operator(fn(output: f32[N]) -> f32[N])]
struct Snake;

fn main() {}
