//! A result of two element types.

use model_graph::operator;

#[operator(fn(x: f32 | i8 [N]) -> f32 | i8 [N])]
struct Snake;

fn main() {}
