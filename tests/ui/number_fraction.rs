//! A number with a fraction beside integers.

use model_graph::model_graph;

#[model_graph]
struct Model {
    #[input]
    n: Tensor<i32, 4>,
    #[node(n + 0.5)]
    a: _,
    #[output((n * 2) / 1.5)]
    y: _,
}

fn main() {}
