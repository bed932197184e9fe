//! What a layer remembers, as PyTorch has it.

use model_graph::model_graph;

#[model_graph]
struct Model {
    #[input]
    x: Tensor<f32, 5, 1, 3>,
    #[weight]
    w_ih: Tensor<f32, 8, 3>,
    #[weight]
    w_hh: Tensor<f32, 8, 2>,
    #[state]
    h: Tensor<f32, 1, 2>,
    #[state]
    c: Tensor<f32, 1, 2>,
    #[output(lstm(x, (h, c), w_ih, w_hh))]
    y: _,
}

fn main() {}
