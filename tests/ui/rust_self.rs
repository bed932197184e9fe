//! `self.x` for a tensor.

use model_graph::model_graph;

#[model_graph]
struct Model {
    #[input]
    x: Tensor<f32, 4>,
    #[output(relu(self.x))]
    y: _,
}

fn main() {}
