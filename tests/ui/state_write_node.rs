//! A write of what every forward makes anew.

use model_graph::model_graph;

#[model_graph]
struct Model {
    #[input]
    x: Tensor<f32, 2, 3>,
    #[node(relu(x))]
    h: _,
    #[output(write(h, x) + write(relu(x), x))]
    y: _,
}

fn main() {}
