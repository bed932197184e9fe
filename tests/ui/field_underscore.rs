//! A field called `_`.

use model_graph::model_graph;

#[model_graph]
struct Model {
    #[input]
    x: Tensor<f32, 4>,
    #[output(relu(x))]
    _: Tensor<f32, 4>,
}

fn main() {}
