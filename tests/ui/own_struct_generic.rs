//! A generic operator.

use model_graph::operator;

#[operator(fn(x: f32[N]) -> f32[N])]
struct Snake<T> {
    eps: T,
}

fn main() {}
