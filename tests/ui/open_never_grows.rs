//! An open dim that no extent says the value of.

use model_graph::model_graph;

#[model_graph(dims(A <= 4))]
struct Model {
    #[input]
    x: Tensor<f32, { 0 * A + 4 }>,
    #[output(x + 1)]
    y: _,
}

fn main() {}
