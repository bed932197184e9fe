//! Defaults of another kind, and attributes that are none.

use model_graph::operator;

#[operator(fn(x: f32[N]) -> f32[N])]
struct Snake {
    #[setting(default = true)]
    eps: f32,
    #[setting(default = 0.5)]
    count: usize,
    #[setting(default = [1, 2, 3])]
    pair: [usize; 2],
    #[setting(1e-9)]
    other: f32,
    #[setting(default)]
    another: f32,
}

fn main() {}
