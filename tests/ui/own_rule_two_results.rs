//! More than one result.

use model_graph::operator;

#[operator(fn(x: f32[N]) -> (f32[N], f32[N]))]
struct Snake;

fn main() {}
