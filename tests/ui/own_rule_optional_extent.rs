//! An extent that only an optional operand has.

use model_graph::operator;

#[operator(fn(x: f32[.., N], w?: f32[K]) -> f32[.., K])]
struct Snake;

fn main() {}
