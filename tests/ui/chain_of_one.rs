//! One block as the type of a chain.

use model_graph::model_graph;

#[model_graph]
struct Model {
    #[input]
    x: Tensor<f32, 1, 3, 8, 8>,
    #[weight]
    w: Tensor<f32, 4, 3, 3, 3>,
    #[chain(x)]
    layers: Layer,
    #[output(relu(layers))]
    y: _,
}

fn main() {}
