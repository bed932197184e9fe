//! A derive that would make no sense on one buffer.

use model_graph::model_graph;

#[model_graph]
#[derive(Debug, Clone)]
struct Model {
    #[input]
    x: Tensor<f32, 4>,
    #[output(relu(x))]
    y: _,
}

fn main() {}
