//! A cast of a weight in blocks to integers.

use model_graph::model_graph;

#[model_graph]
struct Model {
    #[weight]
    w: Tensor<q8_0, 4, 40>,
    #[output(w as i8)]
    y: _,
}

fn main() {}
