//! The path of the crate in quotes.

use model_graph::model_graph;

#[model_graph(crate = "model_graph")]
struct Model {
    #[input]
    x: Tensor<f32, 4>,
    #[output(relu(x))]
    y: _,
}

fn main() {}
