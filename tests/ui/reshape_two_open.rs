//! Two extents to be inferred.

use model_graph::model_graph;

#[model_graph]
struct Model {
    #[input]
    x: Tensor<f32, 4>,
    #[output(reshape(x, shape = [_, _]))]
    y: _,
}

fn main() {}
