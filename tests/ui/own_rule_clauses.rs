//! Clauses that are none, twice, or of another form.

use model_graph::operator;

#[operator(fn(x: f32[N]) -> f32[N], inplace = x, scratch = 4, scratch = 8, strided(x), crate = "model_graph")]
struct Snake;

fn main() {}
