//! More rows than a state has, for some values of an open dim.

use model_graph::model_graph;

#[model_graph(dims(SEQ <= 64))]
struct Model {
    #[input]
    x: Tensor<f32, SEQ, 4>,
    #[input]
    position: Tensor<u32>,
    #[state]
    cache: Tensor<f32, 16, 4>,
    #[output(write(cache, src = x, at = position))]
    y: _,
}

fn main() {}
