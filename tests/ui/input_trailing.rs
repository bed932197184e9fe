//! Something after `keep`.

use model_graph::model_graph;

#[model_graph]
struct Model {
    #[input(keep, always)]
    x: Tensor<f32, 4>,
    #[output(relu(x))]
    y: _,
}

fn main() {}
