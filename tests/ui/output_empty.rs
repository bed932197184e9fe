//! Empty parentheses after `#[output]`.

use model_graph::model_graph;

#[model_graph]
struct Model {
    #[input]
    x: Tensor<f32, 4>,
    #[output()]
    y: Tensor<f32, 4>,
}

fn main() {}
