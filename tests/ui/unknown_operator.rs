//! An operator that is not there; the nearest name is proposed.

use model_graph::model_graph;

#[model_graph]
struct Model {
    #[input]
    x: Tensor<f32, 4>,
    #[output(realu(x))]
    y: _,
}

fn main() {}
