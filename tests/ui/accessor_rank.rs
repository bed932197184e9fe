//! Another rank.

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
    model.x_mut()[0][1] = 1.0;
}
