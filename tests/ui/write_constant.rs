//! Writing a constant.

use model_graph::{Cpu, model_graph};

#[model_graph]
struct Model {
    #[input]
    x: Tensor<f32, 4>,
    #[constant([1.0; 4])]
    c: Tensor<f32, 4>,
    #[output(x * c)]
    y: _,
}

fn main() {
    let mut model = Model::new(&Cpu).unwrap();
    model.c_mut();
}
