//! An operand without a name of its own.

use model_graph::model_graph;

#[model_graph(dims(BATCH = 100, HIDDEN = 128))]
struct Model {
    #[input]
    x: Tensor<f32, BATCH, 784>,
    #[weight]
    w: Tensor<f32, HIDDEN, HIDDEN>,
    #[weight]
    b: Tensor<f32, 7>,
    #[output(relu(matmul(transpose(x), x)) + b)]
    y: _,
}

fn main() {}
