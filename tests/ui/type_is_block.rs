//! A block as the type of a field.

use model_graph::model_graph;

#[model_graph]
struct Model {
    #[input]
    x: Tensor<f32, 1, 3, 8, 8>,
    #[weight]
    w: Tensor<f32, 4, 3, 3, 3>,
    #[node(x)]
    h: Layer,
    #[output(relu(h))]
    y: _,
}

fn main() {}
