//! A constant of Rust as an extent.

use model_graph::model_graph;

const N: usize = 4;

#[model_graph]
struct Model {
    #[input]
    x: Tensor<f32, N>,
    #[output(relu(x))]
    y: _,
}

#[model_graph(dims(WIDTH = 3, HEIGHT = 2))]
struct Other {
    #[input]
    x: Tensor<f32, WIDTH, HEIGHT, N>,
    #[output(relu(x))]
    y: _,
}

fn main() {
    let _ = N;
}
