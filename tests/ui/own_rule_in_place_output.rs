//! The result as what it is written over.

use model_graph::operator;

#[operator(fn(x: f32[.., N]) -> f32[.., N], in_place = output)]
struct Snake;

fn main() {}
