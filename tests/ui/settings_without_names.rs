//! Settings by their place.

use model_graph::model_graph;

#[model_graph]
struct Model {
    #[input]
    x: Tensor<f32, 1, 3, 8, 8>,
    #[weight]
    w: Tensor<f32, 4, 3, 3, 3>,
    #[node(clamp(x, 0, 1))]
    clamped: _,
    #[node(softmax(clamped, -1))]
    soft: _,
    #[node(max(x, soft))]
    larger: _,
    #[output(transpose(larger, 0, 1))]
    y: _,
}

fn main() {}
