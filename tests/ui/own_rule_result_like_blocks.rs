//! A result with the elements of a weight in blocks.

use model_graph::operator;

#[operator(fn(x: f32[.., N], w: f32 | q8_0 [N], v: w[N]) -> v[.., N])]
struct Snake;

fn main() {}
