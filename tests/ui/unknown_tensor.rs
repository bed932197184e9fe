//! A tensor that is not there; the nearest name is proposed.

use model_graph::model_graph;

#[model_graph]
struct Model {
    #[input]
    x: Tensor<f32, 4>,
    #[node(relu(x))]
    hidden: _,
    #[output(relu(hiden))]
    y: _,
}

fn main() {}
