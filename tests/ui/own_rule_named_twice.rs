//! Operands and element types that are named twice.

use model_graph::operator;

#[operator(fn(x: f32 | f32 [.., N]) -> x[.., N], in_place = [x, x], strided = [x, output, x, output])]
struct Snake;

fn main() {}
