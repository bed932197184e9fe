//! Elements that do not pair.

use model_graph::model_graph;

#[model_graph]
struct Model {
    #[input]
    at: Tensor<u32>,
    #[input]
    x: Tensor<f32, 2, 4, 8>,
    #[output(rope(x, at, dims = 5))]
    y: _,
}

fn main() {}
