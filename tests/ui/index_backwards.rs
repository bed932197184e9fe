//! A range that ends before it starts.

use model_graph::model_graph;

#[model_graph]
struct Model {
    #[input]
    x: Tensor<f32, 4>,
    #[output(x[3..1])]
    y: _,
}

fn main() {}
