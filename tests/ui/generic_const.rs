//! A struct with a constant parameter: the extents are dims.

use model_graph::model_graph;

#[model_graph]
struct Model<const N: usize> {
    #[input]
    x: Tensor<f32, N>,
    #[output(relu(x))]
    y: _,
}

fn main() {}
