//! No size, two of them, and one for another number of axes.

use model_graph::model_graph;

#[model_graph]
struct Model {
    #[input]
    x: Tensor<f32, 1, 3, 4, 4>,
    #[output(resize(x))]
    a: _,
    #[output(resize(x, size = [8, 8], scale = 2))]
    b: _,
    #[output(resize(x, size = [8]))]
    c: _,
}

fn main() {}
