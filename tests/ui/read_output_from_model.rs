//! Reading an output from the model.

use model_graph::{Cpu, model_graph};

#[model_graph]
struct Model {
    #[input]
    x: Tensor<f32, 4>,
    #[output(relu(x))]
    y: _,
}

fn main() {
    let model = Model::new(&Cpu).unwrap();
    println!("{}", model.y()[0]);
}
