//! Leading dims in the wrong place, and in the result alone.

use model_graph::operator;

#[operator(fn(x: f32[N, ..]) -> f32[N])]
struct Snake;

#[operator(fn(x: f32[N]) -> f32[.., N])]
struct Other;

fn main() {}
