//! A block's open dim is bound where it is used, within its bound.

use model_graph::model_graph;

#[model_graph(dims(N <= 256))]
struct Half {
    #[input]
    x: Tensor<f32, N, 4>,
    #[output(x * 0.5)]
    y: Tensor<f32, N, 4>,
}

#[model_graph(dims(SEQ <= 512))]
struct Model {
    #[input]
    x: Tensor<f32, SEQ, 4>,
    #[output(Half(x))]
    y: _,
    #[output(Half<N = SEQ>(x))]
    z: _,
}

fn main() {}
