//! No input says what the value is.

use model_graph::model_graph;

#[model_graph(dims(SEQ <= 512, HEADS <= 8))]
struct Model {
    #[input]
    x: Tensor<f32, SEQ, 4>,
    #[weight]
    w: Tensor<f32, 8, 4>,
    #[output(matmul(x, transpose(w[..HEADS])))]
    y: Tensor<f32, SEQ, HEADS>,
}

fn main() {}
