//! Empty parentheses after `#[constant]`.

use model_graph::model_graph;

#[model_graph]
struct Model {
    #[input]
    x: Tensor<f32, 4>,
    #[constant()]
    c: Tensor<f32, 4>,
    #[output(x * c)]
    y: _,
}

fn main() {}
