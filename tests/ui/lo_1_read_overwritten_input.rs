//! Reading an input back that forward may have overwritten.

use model_graph::{Cpu, model_graph};

#[model_graph]
struct Model {
    #[input]
    x: Tensor<f32, 4>,
    #[node(relu(x))]
    t: _,
    #[output(sum(t * 2))]
    y: _,
}

fn main() {
    let mut model = Model::new(&Cpu).unwrap();
    model.x_mut().write(&[1.0, 2.0, 3.0, 4.0]).unwrap();
    println!("{}", model.x()[0]);
}
