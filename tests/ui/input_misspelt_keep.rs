//! A misspelt word in `#[input(…)]`.

use model_graph::model_graph;

#[model_graph]
struct Model {
    #[input(kep)]
    x: Tensor<f32, 4>,
    #[output(relu(x))]
    y: _,
}

fn main() {}
