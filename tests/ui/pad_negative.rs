//! A border of less than nothing.

use model_graph::model_graph;

#[model_graph]
struct Model {
    #[input]
    x: Tensor<f32, 2, 3>,
    #[output(pad(x, before = [0, 1], after = [-1, 0]))]
    y: _,
}

fn main() {}
