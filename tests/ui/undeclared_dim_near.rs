//! A misspelt dim.

use model_graph::model_graph;

#[model_graph(dims(BATCH = 4, WIDTH = 3))]
struct Model {
    #[input]
    x: Tensor<f32, BACH>,
    #[output(relu(x))]
    y: _,
}

fn main() {}
