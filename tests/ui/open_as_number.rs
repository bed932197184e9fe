//! An open dim is no number that a model can be made with.

use model_graph::model_graph;

#[model_graph(dims(SEQ <= 512))]
struct Model {
    #[input]
    x: Tensor<f32, SEQ, 4>,
    #[output(x / SEQ)]
    y: _,
    #[output(max_pool2d(reshape(x, shape = [1, 1, SEQ, 4]), kernel = SEQ))]
    z: _,
}

fn main() {}
