//! A border beyond any address.

use model_graph::model_graph;

#[model_graph]
struct Model {
    #[input]
    x: Tensor<f32, 2, 3>,
    #[output(pad(x, before = [0, 9223372036854775807], after = [0, 9223372036854775807]))]
    y: _,
}

fn main() {}
