//! Open dims that a block has weights and states of.

use model_graph::model_graph;

#[model_graph(dims(N = _))]
struct Block {
    #[input]
    x: Tensor<f32, 4, N>,
    #[weight]
    w: Tensor<f32, 4, N>,
    #[state]
    s: Tensor<f32, { N + 1 }>,
    #[output(x * w + s[..N])]
    y: _,
}

#[model_graph(dims(SEQ <= 16))]
struct Model {
    #[input]
    x: Tensor<f32, 4, SEQ>,
    #[output(Block<N = SEQ>(x))]
    y: _,
}

fn main() {}
