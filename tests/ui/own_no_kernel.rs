//! A backend without a kernel for the operator.

use model_graph::{Cpu, model_graph, operator};

#[operator(fn(x: f32[..]) -> f32[..])]
struct Snake;

#[model_graph]
struct Model {
    #[input]
    x: Tensor<f32, 4>,
    #[output(Snake(x))]
    y: _,
}

fn main() {
    let mut model = Model::new(&Cpu).unwrap();
    model.forward().unwrap();
}
