//! Groups that the channels do not make.

use model_graph::model_graph;

#[model_graph]
struct Model {
    #[input]
    x: Tensor<f32, 1, 6, 4>,
    #[output(group_norm(x, groups = 4))]
    y: _,
}

fn main() {}
