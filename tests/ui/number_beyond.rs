//! Numbers that do not fit the elements they stand beside.

use model_graph::model_graph;

#[model_graph]
struct Model {
    #[input]
    x: Tensor<i8, 4>,
    #[input]
    u: Tensor<u8, 4>,
    #[input]
    h: Tensor<f16, 4>,
    #[node(x + 300)]
    a: _,
    #[node(u - (-1))]
    b: _,
    #[output(h * 1e6)]
    y: _,
}

fn main() {}
