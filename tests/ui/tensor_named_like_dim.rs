//! A tensor with the name of a dim.

use model_graph::model_graph;

#[model_graph(dims(N = 4))]
struct Model {
    #[input]
    x: Tensor<f32, 4>,
    #[weight]
    N: Tensor<f32, N>,
    #[output(x * 2)]
    y: _,
}

fn main() {}
