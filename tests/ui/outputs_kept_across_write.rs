//! Outputs are gone once the model is written to.

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
    model.x_mut()[0] = 1.0;
    println!("{}", outputs.y()[0]);
}
