//! The index where the table belongs.

use model_graph::model_graph;

#[model_graph]
struct Model {
    #[input]
    tokens: Tensor<u32, 5>,
    #[weight]
    table: Tensor<f32, 9, 4>,
    #[output(gather(tokens, table))]
    y: _,
}

fn main() {}
