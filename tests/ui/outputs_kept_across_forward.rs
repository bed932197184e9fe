//! Outputs are gone once the model runs again.

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
    let outputs = model.forward().unwrap();
    model.forward().unwrap();
    println!("{}", outputs.y()[0]);
}
