//! Dims of an operator.

use model_graph::model_graph;

#[model_graph]
struct Model {
    #[input]
    x: Tensor<f32, 4>,
    #[output(relu<D = 4>(x))]
    y: _,
}

fn main() {}
