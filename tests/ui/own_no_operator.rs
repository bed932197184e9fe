//! A struct that is no operator.

use model_graph::{model_graph};

struct Snake;

#[model_graph(dims(C = 4, N = 8))]
struct Model {
    #[input]
    x: Tensor<f32, C, N>,
    #[weight]
    a: Tensor<f32, C>,
    #[output(Snake(x, a))]
    y: _,
}

fn main() {}
