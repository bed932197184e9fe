//! Indices that are outside for some values, and ranges that shrink.

use model_graph::model_graph;

#[model_graph(dims(SEQ <= 512))]
struct Model {
    #[input]
    x: Tensor<f32, SEQ, 4>,
    #[weight]
    w: Tensor<f32, 512, 4>,
    #[output(x[3])]
    a: _,
    #[output(x[..{ SEQ + 1 }])]
    b: _,
    #[output(w[SEQ..])]
    c: _,
    #[output(slice(x, start = -3))]
    d: _,
}

fn main() {}
