//! A name that the emitted code keeps for itself.

use model_graph::model_graph;

#[model_graph]
struct Model {
    #[input]
    __build: Tensor<f32, 4>,
    #[output(relu(__build))]
    y: _,
}

fn main() {}
