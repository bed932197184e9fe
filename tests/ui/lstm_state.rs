//! A state without c, and weights of three gates.

use model_graph::model_graph;

#[model_graph]
struct Model {
    #[input]
    x: Tensor<f32, 5, 1, 3>,
    #[input]
    h: Tensor<f32, 1, 1, 4>,
    #[input]
    state: Tensor<f32, 2, 1, 4>,
    #[weight]
    w_ih: Tensor<f32, 12, 3>,
    #[weight]
    w_hh: Tensor<f32, 16, 4>,
    #[output(lstm(x, h, w_ih, w_hh))]
    y: _,
    #[output(lstm(x, state, w_ih, w_hh))]
    z: _,
}

fn main() {}
