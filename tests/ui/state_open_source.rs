//! A source that may have more rows than the state.

use model_graph::model_graph;

#[model_graph(dims(SEQ <= 5))]
struct Model {
    #[input]
    x: Tensor<f32, SEQ, 3>,
    #[state]
    s: Tensor<f32, 4, 3>,
    #[output(write(s, src = x, at = 0))]
    y: _,
}

fn main() {}
