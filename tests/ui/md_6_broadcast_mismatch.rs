//! Extents that do not broadcast, in a sum across lines.

use model_graph::model_graph;

#[model_graph]
struct Model {
    #[input]
    x: Tensor<f32, 1, 1040>,
    #[weight]
    w: Tensor<f32, 5120>,
    #[output(
        relu(x)
            + w
    )]
    y: _,
}

fn main() {}
