//! Nothing says what the operator takes.

use model_graph::operator;

#[operator]
struct Snake;

fn main() {}
