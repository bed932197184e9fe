//! A block that cannot be read is complained of once.

use model_graph::model_graph;

#[model_graph]
struct Block(f32);

#[model_graph]
struct Model {
    #[input]
    x: Tensor<f32, 4>,
    #[output(Block(x))]
    y: _,
}

fn main() {}
