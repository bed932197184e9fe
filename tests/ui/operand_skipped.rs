//! An operand that cannot be left out before one that is given by its name.

use model_graph::model_graph;

#[model_graph]
struct Model {
    #[input]
    x: Tensor<f32, 2, 3>,
    #[weight]
    b: Tensor<f32, 3>,
    #[output(layer_norm(x, bias = b))]
    y: _,
}

fn main() {}
