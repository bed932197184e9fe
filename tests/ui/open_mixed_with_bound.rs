//! The bound of an open dim is another extent than the dim.

use model_graph::model_graph;

#[model_graph(dims(SEQ <= 512))]
struct Model {
    #[input]
    x: Tensor<f32, SEQ, 4>,
    #[weight]
    w: Tensor<f32, 512, 4>,
    #[output(x + w)]
    y: _,
    #[output(x * 2)]
    z: Tensor<f32, 512, 4>,
}

fn main() {}
