//! A path where a source of weights is wanted.

use model_graph::{Cpu, model_graph};

#[model_graph]
struct Model {
    #[input]
    x: Tensor<f32, 4>,
    #[output(relu(x))]
    y: _,
}

fn main() {
    let mut model = Model::new(&Cpu).unwrap();
    model.load("weights.safetensors").unwrap();
}
