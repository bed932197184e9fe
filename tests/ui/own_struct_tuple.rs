//! Settings without names.

use model_graph::operator;

#[operator(fn(x: f32[N]) -> f32[N])]
struct Snake(f32);

fn main() {}
