//! An operator of nothing.

use model_graph::operator;

#[operator(fn() -> f32[4])]
struct Snake;

fn main() {}
