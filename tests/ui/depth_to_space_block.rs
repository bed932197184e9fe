//! A block that the channels do not fill.

use model_graph::model_graph;

#[model_graph]
struct Model {
    #[input]
    x: Tensor<f32, 1, 6, 4, 4>,
    #[output(depth_to_space(x, block = 2))]
    y: _,
}

fn main() {}
