//! Bytes of scratch by Rust rather than by arithmetic.

use model_graph::model_graph;
use model_graph::operator;

#[operator(fn(x: f32[N]) -> f32[N], scratch = N * size_of::<f32>())]
struct Sorted;

#[model_graph]
struct Model {
    #[input]
    x: Tensor<f32, 8>,
    #[output(Sorted(x))]
    y: _,
}

fn main() {}
