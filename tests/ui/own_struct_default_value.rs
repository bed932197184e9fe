//! Defaults that a setting cannot have, or has twice.

use model_graph::operator;

#[operator(fn(x: f32[.., N]) -> f32[.., N])]
struct Snake {
    #[setting(default = EPS)]
    eps: f32,
    #[setting(default = -1)]
    count: usize,
    #[setting(default = [1, -2])]
    pair: [usize; 2],
    #[setting(default = 1.0)]
    #[setting(default = 2.0)]
    other: f32,
}

fn main() {}
