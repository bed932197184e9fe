//! An element type that there is not.

use model_graph::operator;

#[operator(fn(x: float[N], w: f32 | i9 [N]) -> y[N])]
struct Snake;

fn main() {}
