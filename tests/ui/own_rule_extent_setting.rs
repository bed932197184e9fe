//! An extent that is a setting of another kind.

use model_graph::operator;

#[operator(fn(x: f32[N]) -> f32[eps])]
struct Snake {
    eps: f32,
}

fn main() {}
