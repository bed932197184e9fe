//! Elements as those of an operand further on.

use model_graph::operator;

#[operator(fn(x: w[N], w: f32 | i8 [N]) -> f32[N])]
struct Snake;

fn main() {}
