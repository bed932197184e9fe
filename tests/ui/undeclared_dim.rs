//! A dim that is not declared.

use model_graph::model_graph;

#[model_graph]
struct Model {
    #[input]
    x: Tensor<f32, BATCH>,
    #[output(relu(x))]
    y: _,
}

fn main() {}
