//! Axes that are no permutation.

use model_graph::model_graph;

#[model_graph]
struct Model {
    #[input]
    x: Tensor<f32, 2, 3>,
    #[output(permute(x, axes = [0, 2]))]
    y: _,
}

fn main() {}
