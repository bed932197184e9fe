//! Operands that the result cannot be written over.

use model_graph::operator;

#[operator(fn(x: f32[.., N], a: f32[N], b: i8[.., N]) -> f32[.., N], in_place = [x, a, b, c])]
struct Snake;

fn main() {}
