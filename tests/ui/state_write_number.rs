//! A write of what is no tensor, and of an output.

use model_graph::model_graph;

#[model_graph]
struct Model {
    #[input]
    x: Tensor<f32, 2, 3>,
    #[output(relu(x))]
    first: _,
    #[output(write(3, src = x))]
    y: _,
    #[output(write(first, src = x))]
    z: _,
}

fn main() {}
