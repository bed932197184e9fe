//! A rule that divides an extent which follows from an open dim.

use model_graph::{model_graph, operator};

#[operator(fn(x: f32[.., N]) -> f32[.., N / 2])]
struct Halves;

#[model_graph(dims(SEQ <= 8))]
struct Model {
    #[input]
    x: Tensor<f32, SEQ>,
    #[output(Halves(x))]
    y: _,
}

fn main() {}
