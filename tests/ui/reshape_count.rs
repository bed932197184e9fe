//! A shape of another number of elements.

use model_graph::model_graph;

#[model_graph(dims(N = 4))]
struct Model {
    #[input]
    x: Tensor<f32, N, 3>,
    #[output(reshape(x, shape = [N, 2]))]
    y: _,
}

fn main() {}
