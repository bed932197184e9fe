//! Extents and a scratch that no call could have.

use model_graph::operator;

#[operator(fn(x: f32[.., N]) -> f32[2 - 4, N / 0, 7 / 2], scratch = 3 - N * 0 / 0)]
struct Snake;

fn main() {}
