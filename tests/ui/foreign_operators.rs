//! Operators by the names that other frameworks give them.

use model_graph::model_graph;

#[model_graph]
struct Model {
    #[input]
    x: Tensor<f32, 1, 3, 8, 8>,
    #[weight]
    w: Tensor<f32, 4, 3, 3, 3>,
    #[node(interpolate(x))]
    wide: _,
    #[node(unsqueeze(wide, axis = 0))]
    more: _,
    #[output(logsumexp(more))]
    y: _,
}

fn main() {}
