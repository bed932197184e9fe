//! A number of another type.

use model_graph::model_graph;

#[model_graph]
struct Model {
    #[input]
    x: Tensor<f32, 4>,
    #[output(x + 1.0f64)]
    y: _,
}

fn main() {}
