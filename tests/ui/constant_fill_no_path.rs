//! `fill` takes the path of a function.

use model_graph::model_graph;

#[model_graph]
struct Model {
    #[input]
    x: Tensor<f32, 4>,
    #[constant(fill = |c| c[0] = 1.0)]
    c: Tensor<f32, 4>,
    #[output(x * c)]
    y: _,
}

fn main() {}
