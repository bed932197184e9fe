//! How many copies there are is fixed.

use model_graph::model_graph;

#[model_graph(dims(N = 4))]
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
    #[chain(x)]
    layers: [Half; SEQ],
    #[output(layers + 1)]
    y: _,
}

fn main() {}
