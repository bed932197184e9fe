//! Where weights lie is said by one of two words.
use model_graph::model_graph;

#[model_graph(weights = "sharde")]
struct Model {
    #[input]
    x: Tensor<f32, 2>,
    #[weight]
    w: Tensor<f32, 2>,
    #[output(x * w)]
    y: _,
}

#[model_graph(weights = shared)]
struct Bare {
    #[input]
    x: Tensor<f32, 2>,
    #[weight]
    w: Tensor<f32, 2>,
    #[output(x * w)]
    y: _,
}

fn main() {}
