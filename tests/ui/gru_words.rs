//! Words that the settings do not know.

use model_graph::model_graph;

#[model_graph]
struct Model {
    #[input]
    x: Tensor<f32, 5, 1, 3>,
    #[input]
    h: Tensor<f32, 1, 4>,
    #[weight]
    w_ih: Tensor<f32, 12, 3>,
    #[weight]
    w_hh: Tensor<f32, 12, 4>,
    #[output(gru(x, h, w_ih, w_hh, order = nzr))]
    y: _,
    #[output(gru(x, h, w_ih, w_hh, reset = never))]
    z: _,
}

fn main() {}
