//! An index that reaches outside: what is asked and what is there are named.

use model_graph::model_graph;

#[model_graph]
struct Model {
    #[input]
    p: Tensor<f32, 4>,
    #[output(p[2..5])]
    y: _,
}

fn main() {}
