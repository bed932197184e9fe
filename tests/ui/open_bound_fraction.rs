//! A bound that is no whole number.

use model_graph::model_graph;

#[model_graph(dims(A <= 4.5))]
struct Model {
    #[input]
    x: Tensor<f32, A>,
    #[output(x + 1)]
    y: _,
}

fn main() {}
