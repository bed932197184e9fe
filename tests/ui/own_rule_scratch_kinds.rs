//! A scratch that is no number of bytes.

use model_graph::operator;

#[operator(fn(x: f32[.., N]) -> f32[.., N], scratch = 1.5)]
struct Fraction;

#[operator(fn(x: f32[.., N]) -> f32[.., N], scratch = -4)]
struct Negative;

#[operator(fn(x: f32[.., N]) -> f32[.., N], scratch = "big")]
struct Word;

#[operator(fn(x: f32[.., N]) -> f32[.., N], scratch = 4 * x)]
struct Operand;

#[operator(fn(x: f32[.., N]) -> f32[.., N], scratch = 4 * eps)]
struct Setting {
    eps: f32,
}

fn main() {}
