//! A dim that is used before it is declared.

use model_graph::model_graph;

#[model_graph(dims(A = B, B = 4))]
struct Model {
    #[input]
    x: Tensor<f32, A>,
    #[output(relu(x))]
    y: _,
}

fn main() {}
