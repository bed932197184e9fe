//! Something after the type.

use model_graph::model_graph;

#[model_graph]
struct Model {
    #[input]
    x: Tensor<f32, 4> = 3,
    #[output(relu(x))]
    y: _,
}

fn main() {}
