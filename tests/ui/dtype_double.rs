//! Floating-point types by other names.

use model_graph::model_graph;

#[model_graph]
struct Model {
    #[input]
    x: Tensor<f32, 1, 3, 8, 8>,
    #[weight]
    w: Tensor<f32, 4, 3, 3, 3>,
    #[input]
    double: Tensor<f64, 2>,
    #[input]
    float: Tensor<float, 2>,
    #[output(double + float)]
    y: _,
}

fn main() {}
