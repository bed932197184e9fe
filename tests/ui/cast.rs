//! A cast, which is planned.

use model_graph::model_graph;

#[model_graph]
struct Model {
    #[input]
    x: Tensor<f32, 4>,
    #[output(x as i32)]
    y: _,
}

fn main() {}
