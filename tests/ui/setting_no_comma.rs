//! No comma between two settings.

use model_graph::model_graph;

#[model_graph(dims(N = 4) align = 64)]
struct Model {
    #[input]
    x: Tensor<f32, 4>,
    #[output(relu(x))]
    y: _,
}

fn main() {}
