//! Results of elements in blocks, by the name of an operand and of one whose elements are another's.

use model_graph::operator;

#[operator(fn(w: f32 | q8_0 [N]) -> w[N])]
struct Same;

#[operator(fn(w: q4_0[N], other: w[N]) -> other[N])]
struct Other;

#[operator(fn(w: q4_0[N], x: f32[N]) -> x[N])]
struct Fine;

fn main() {}
