//! More to reflect than there is, and a value that nothing needs.

use model_graph::model_graph;

#[model_graph]
struct Model {
    #[input]
    x: Tensor<f32, 2, 4>,
    #[output(pad(x, before = [0, 4], mode = reflect))]
    y: _,
    #[output(pad(x, before = [0, 1], mode = edge, value = 2))]
    z: _,
}

fn main() {}
