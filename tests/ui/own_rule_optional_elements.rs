//! A result whose elements are those of an optional operand.

use model_graph::operator;

#[operator(fn(x: f32[.., N], w?: f32 | i8 [N]) -> w[.., N])]
struct Snake;

fn main() {}
