//! An operator that extents do not have.

use model_graph::model_graph;

#[model_graph(dims(N = 4))]
struct Model {
    #[input]
    x: Tensor<f32, { N % 2 }>,
    #[output(relu(x))]
    y: _,
}

fn main() {}
