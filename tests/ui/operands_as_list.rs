//! Tensors in brackets and in parentheses.

use model_graph::model_graph;

#[model_graph]
struct Model {
    #[input]
    x: Tensor<f32, 1, 3, 8, 8>,
    #[weight]
    w: Tensor<f32, 4, 3, 3, 3>,
    #[node(concat([x, x], axis = 1))]
    brackets: _,
    #[output(concat((x, x), axis = 1))]
    y: _,
}

fn main() {}
