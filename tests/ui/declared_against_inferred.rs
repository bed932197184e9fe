//! The declared shape is not what the expression gives.

use model_graph::model_graph;

#[model_graph(dims(BATCH = 100))]
struct Model {
    #[input]
    x: Tensor<f32, BATCH, 784>,
    #[output(transpose(x))]
    y: Tensor<f32, BATCH, 784>,
}

fn main() {}
