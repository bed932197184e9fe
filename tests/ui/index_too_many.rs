//! More ranges than dimensions.

use model_graph::model_graph;

#[model_graph]
struct Model {
    #[input]
    x: Tensor<f32, 4>,
    #[output(x[0, 0])]
    y: _,
}

fn main() {}
