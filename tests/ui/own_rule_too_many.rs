//! More operands than a call can have.

use model_graph::operator;

#[operator(fn(a: f32, b: f32, c: f32, d: f32, e: f32, f: f32, g: f32, h: f32, i: f32) -> f32)]
struct Snake;

fn main() {}
