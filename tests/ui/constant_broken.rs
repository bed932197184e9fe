//! A constant that is no expression: the rest of the model is still there.

use model_graph::{Cpu, model_graph};

#[model_graph]
struct Model {
    #[input]
    x: Tensor<f32, 4>,
    #[constant(1.0 +)]
    c: Tensor<f32>,
    #[output(x * c)]
    y: _,
}

fn main() {
    let mut model = Model::new(&Cpu).unwrap();
    model.x_mut()[0] = 1.0;
    println!("{}", model.forward().unwrap().y()[0]);
}
