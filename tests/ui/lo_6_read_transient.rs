//! Reading a transient tensor after forward.

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
    let model = Model::new(&Cpu).unwrap();
    println!("{}", model.h()[0]);
}
