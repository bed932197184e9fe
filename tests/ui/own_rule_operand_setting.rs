//! An operand and a setting of one name.

use model_graph::operator;

#[operator(fn(x: f32[N], eps: f32[N]) -> f32[N])]
struct Snake {
    eps: f32,
}

fn main() {}
