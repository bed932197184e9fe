//! A setting that is not there.

use model_graph::model_graph;

#[model_graph(dims(N = 4), backend = cuda)]
struct Model {
    #[input]
    x: Tensor<f32, N>,
    #[output(relu(x))]
    y: _,
}

fn main() {}
