//! Rows along a dimension that there is not.

use model_graph::model_graph;

#[model_graph]
struct Model {
    #[input]
    x: Tensor<f32, 2, 3>,
    #[state]
    s: Tensor<f32, 4, 3>,
    #[output(write(s, src = x, at = 0, axis = 2))]
    y: _,
}

fn main() {}
