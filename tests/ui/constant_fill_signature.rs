//! A function of the wrong signature.

use model_graph::model_graph;

fn ramp(out: &mut [f32; 3]) {
    *out = [0.0, 1.0, 2.0];
}

#[model_graph]
struct Model {
    #[input]
    x: Tensor<f32, 4>,
    #[constant(fill = ramp)]
    c: Tensor<f32, 4>,
    #[output(x * c)]
    y: _,
}

fn main() {}
