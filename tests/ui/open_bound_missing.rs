//! An open dim without a bound.

use model_graph::model_graph;

#[model_graph(dims(A <= ))]
struct Model {
    #[input]
    x: Tensor<f32, A>,
    #[output(x + 1)]
    y: _,
}

fn main() {}
