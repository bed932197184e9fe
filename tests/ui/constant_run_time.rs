//! A constant that is not known when the program is compiled.

use model_graph::model_graph;

fn table() -> [f32; 4] {
    [0.0; 4]
}

#[model_graph]
struct Model {
    #[input]
    x: Tensor<f32, 4>,
    #[constant(table())]
    c: Tensor<f32, 4>,
    #[output(x * c)]
    y: _,
}

fn main() {}
