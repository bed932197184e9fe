//! A rule that begins with a name.

use model_graph::operator;

#[operator(snake(x: f32[N]) -> f32[N])]
struct Snake;

fn main() {}
