//! A weight in blocks where single elements are needed, and views of one.

use model_graph::model_graph;

#[model_graph]
struct Model {
    #[input]
    x: Tensor<f32, 4>,
    #[weight]
    w: Tensor<q8_0, 4, 40>,
    #[node(relu(w))]
    a: _,
    #[node(transpose(w))]
    b: _,
    #[node(w[0..2])]
    c: _,
    #[output(x)]
    y: _,
}

fn main() {}
