//! `#[input = …]`.

use model_graph::model_graph;

#[model_graph]
struct Model {
    #[input = "x"]
    x: Tensor<f32, 4>,
    #[output(relu(x))]
    y: _,
}

fn main() {}
