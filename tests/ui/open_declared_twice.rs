//! A dim that is open and fixed.

use model_graph::model_graph;

#[model_graph(dims(A <= 4, A = 3))]
struct Model {
    #[input]
    x: Tensor<f32, A>,
    #[output(x + 1)]
    y: _,
}

fn main() {}
