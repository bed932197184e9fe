//! An unknown name before one that does not fit.

use model_graph::operator;

#[operator(fn(x: f32[.., N], y: f32[N]) -> f32[.., N], in_place = [z, y])]
struct Snake;

fn main() {}
