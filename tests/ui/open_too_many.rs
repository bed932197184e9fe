//! More open dims than there is room for.

use model_graph::model_graph;

#[model_graph(dims(A <= 2, B <= 2, C <= 2, D <= 2, E <= 2, F <= 2, G <= 2, H <= 2, I <= 2))]
struct Model {
    #[input]
    x: Tensor<f32, A>,
    #[output(x + 1)]
    y: _,
}

fn main() {}
