//! An operator that resembles none; the operators there are get listed.

use model_graph::model_graph;

#[model_graph]
struct Model {
    #[input]
    x: Tensor<f32, 4>,
    #[output(fourier(x))]
    y: _,
}

fn main() {}
