//! Two extents that have to agree: both tensors, dims and sizes are named.

use model_graph::model_graph;

#[model_graph(dims(BATCH = 100, HIDDEN = 128))]
struct Model {
    #[input]
    x: Tensor<f32, BATCH, 784>,
    #[weight]
    w: Tensor<f32, HIDDEN, HIDDEN>,
    #[output(matmul(x, w))]
    y: _,
}

fn main() {}
