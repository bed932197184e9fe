//! A misspelt setting in `#[constant(…)]`.

use model_graph::model_graph;

#[model_graph]
struct Model {
    #[input]
    x: Tensor<f32, 4>,
    #[constant(fil = ramp)]
    c: Tensor<f32, 4>,
    #[output(x * c)]
    y: _,
}

fn main() {}
