//! Two models within each other.

use model_graph::model_graph;

#[model_graph]
struct Model {
    #[input]
    x: Tensor<f32, 4>,
    #[output(Other(x))]
    y: _,
}

#[model_graph]
struct Other {
    #[input]
    x: Tensor<f32, 4>,
    #[output(Model(x))]
    y: _,
}

fn main() {}
