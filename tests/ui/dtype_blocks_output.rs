//! A weight in blocks as an output.

use model_graph::model_graph;

#[model_graph]
struct Model {
    #[weight]
    w: Tensor<q8_0, 4, 40>,
    #[output(w)]
    y: _,
}

fn main() {}
