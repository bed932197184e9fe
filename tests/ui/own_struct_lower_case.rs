//! An operator's name in small letters.

use model_graph::operator;

#[operator(fn(x: f32[N]) -> f32[N])]
#[allow(non_camel_case_types)]
struct snake_beta;

fn main() {}
