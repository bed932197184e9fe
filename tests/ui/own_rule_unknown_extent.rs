//! Extents of the result and of the scratch that no operand has.

use model_graph::operator;

#[operator(fn(x: f32[.., Count]) -> f32[.., Cuont], scratch = 4 * M)]
struct Snake;

fn main() {}
