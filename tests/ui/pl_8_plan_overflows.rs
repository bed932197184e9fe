//! Each tensor fits, all of them together do not.

use model_graph::model_graph;

#[model_graph]
struct Model {
    #[input]
    a: Tensor<u8, 9223372036854775807>,
    #[input]
    b: Tensor<u8, 9223372036854775807>,
    #[output(a[0..1])]
    y: _,
    #[output(b[0..1])]
    z: _,
}

fn main() {}
