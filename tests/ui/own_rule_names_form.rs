//! Operands that are named in another way.

use model_graph::operator;

#[operator(fn(x: f32[.., N]) -> f32[.., N], in_place = "x", strided = (x, output))]
struct Snake;

#[operator(fn(x: f32[.., N]) -> f32[.., N], in_place, strided =)]
struct Other;

fn main() {}
