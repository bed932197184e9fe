//! A declared extent where the expression gives one that cannot be written: it leaves a rest.

use model_graph::model_graph;

#[model_graph(dims(N <= 8))]
struct Model {
    #[input]
    x: Tensor<f32, 1, 2, N>,
    #[weight]
    w: Tensor<f32, 2, 2, 3>,
    #[output(conv1d(x, w, padding = 1, stride = 2))]
    y: Tensor<f32, 1, 2, N>,
}

fn main() {}
