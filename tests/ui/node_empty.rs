//! Empty parentheses after `#[node]`.

use model_graph::model_graph;

#[model_graph]
struct Model {
    #[input]
    x: Tensor<f32, 4>,
    #[node()]
    h: _,
    #[output(relu(x))]
    y: _,
}

fn main() {}
