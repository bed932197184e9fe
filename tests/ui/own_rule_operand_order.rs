//! A required operand after an optional one.

use model_graph::operator;

#[operator(fn(x?: f32[N], w: f32[N]) -> f32[N])]
struct Snake;

fn main() {}
