//! Settings of types that none has.

use model_graph::operator;

#[operator(fn(x: f32[N]) -> f32[N])]
struct Snake {
    name: String,
    eps: f64,
    list: [usize; 9],
}

fn main() {}
