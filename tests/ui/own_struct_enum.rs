//! An operator that is no struct.

use model_graph::operator;

#[operator(fn(x: f32[N]) -> f32[N])]
enum Snake {
    One,
}

#[operator(fn(x: f32[N]) -> f32[N])]
fn other() {}

fn main() {}
