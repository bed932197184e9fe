//! `#[keep]` takes nothing.

use model_graph::model_graph;

#[model_graph]
struct Model {
    #[input]
    x: Tensor<f32, 4>,
    #[node(relu(x))]
    #[keep(long)]
    h: _,
    #[output(relu(h))]
    y: _,
}

fn main() {}
