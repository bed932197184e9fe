//! A misspelt setting; the dims in it are not complained of as well.

use model_graph::model_graph;

#[model_graph(dim(N = 4))]
struct Model {
    #[input]
    x: Tensor<f32, N>,
    #[output(relu(x))]
    y: _,
}

fn main() {}
