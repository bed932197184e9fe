//! An extent and an operand of one name.

use model_graph::operator;

#[operator(fn(x: f32[x]) -> f32[x])]
struct Snake;

fn main() {}
