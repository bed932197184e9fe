//! An extent that the rule fixes.

use model_graph::{model_graph, operator};

#[operator(fn(x: f32[.., 3]) -> f32[.., 3])]
struct Rotate;

#[model_graph(dims(C = 4, N = 8))]
struct Model {
    #[input]
    x: Tensor<f32, C, N>,
    #[output(Rotate(x))]
    y: _,
}

fn main() {}
