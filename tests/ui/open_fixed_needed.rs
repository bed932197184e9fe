//! Open extents where fixed ones are needed.

use model_graph::model_graph;

#[model_graph(dims(SEQ <= 512))]
struct Model {
    #[input]
    x: Tensor<f32, SEQ, 4>,
    #[node(reshape(x, shape = [512, 4]))]
    a: _,
    #[node(split(x, axis = 0, parts = 2))]
    b: _,
    #[node(pad(x, before = [SEQ, 0]))]
    c: _,
    #[output(x)]
    y: Tensor<f32, 512, 4>,
}

fn main() {}
