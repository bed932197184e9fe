//! Logic of numbers that are no truth values.

use model_graph::model_graph;

#[model_graph]
struct Model {
    #[input]
    x: Tensor<f32, 4>,
    #[node(!x)]
    a: _,
    #[output(where(x, 1, 0))]
    y: _,
}

fn main() {}
