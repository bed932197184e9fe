//! A bound that is the least value.

use model_graph::model_graph;

#[model_graph(dims(A >= 4))]
struct Model {
    #[input]
    x: Tensor<f32, A>,
    #[output(x + 1)]
    y: _,
}

fn main() {}
