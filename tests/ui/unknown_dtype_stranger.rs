//! An element type that resembles none.

use model_graph::model_graph;

#[model_graph]
struct Model {
    #[input]
    x: Tensor<Complex, 4>,
    #[output(relu(x))]
    y: _,
}

fn main() {}
