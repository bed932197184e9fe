//! A struct with a where clause.

use model_graph::model_graph;

#[model_graph]
struct Model
where
    u8: Copy,
{
    #[input]
    x: Tensor<f32, 4>,
    #[output(relu(x))]
    y: _,
}

fn main() {}
