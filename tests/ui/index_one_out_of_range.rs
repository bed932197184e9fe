//! One index that reaches outside.

use model_graph::model_graph;

#[model_graph(dims(N = 4))]
struct Model {
    #[input]
    x: Tensor<f32, 2, N>,
    #[output(x[.., N])]
    y: _,
}

fn main() {}
