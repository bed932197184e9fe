//! A strided operand that there is not.

use model_graph::operator;

#[operator(fn(x: f32[.., N]) -> f32[.., N], strided = [x, y, output])]
struct Snake;

fn main() {}
