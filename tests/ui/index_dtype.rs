//! An index that is no integer.

use model_graph::model_graph;

#[model_graph]
struct Model {
    #[input]
    x: Tensor<f32, 4>,
    #[weight]
    table: Tensor<f32, 8, 3>,
    #[output(gather(table, x))]
    y: _,
}

fn main() {}
