//! Bounds that follow from an open dim.

use model_graph::model_graph;

#[model_graph(dims(A <= 4, B <= A, C <= A + 1))]
struct Model {
    #[input]
    x: Tensor<f32, A, B>,
    #[input]
    z: Tensor<f32, C>,
    #[output(x + 1)]
    y: _,
}

fn main() {}
