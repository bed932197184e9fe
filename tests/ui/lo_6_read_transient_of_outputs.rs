//! Reading a transient tensor from what forward returned.

use model_graph::{Cpu, model_graph};

#[model_graph]
struct Model {
    #[input]
    x: Tensor<f32, 4>,
    #[node(x * 2)]
    h: _,
    #[output(relu(h) + 1)]
    y: _,
}

fn main() {
    let mut model = Model::new(&Cpu).unwrap();
    let outputs = model.forward().unwrap();
    println!("{}", outputs.h()[0]);
}
