//! 2^66 bytes wrap to 0 in 64 bits.

use model_graph::model_graph;

#[model_graph]
struct Model {
    #[input]
    t: Tensor<f32, 65536, 65536, 65536, 65536>,
    #[output(t[0, 0, 0, 0])]
    y: _,
}

fn main() {}
