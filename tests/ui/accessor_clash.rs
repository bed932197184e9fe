//! The accessor that writes `a` has the name of the tensor `a_mut`.

use model_graph::model_graph;

#[model_graph]
struct Model {
    #[input]
    a: Tensor<f32, 4>,
    #[input]
    a_mut: Tensor<f32, 4>,
    #[output(a + a_mut)]
    y: _,
}

fn main() {}
