//! Outputs with open extents are slices, and inputs take their extents along.

use model_graph::{Cpu, model_graph};

#[model_graph(dims(SEQ <= 512))]
struct Model {
    #[input]
    x: Tensor<f32, SEQ, 4>,
    #[output(x + 1)]
    y: _,
}

fn main() {
    let mut model = Model::new(&Cpu).unwrap();
    model.x_mut().write(&[[0.0; 4]; 512]).unwrap();
    let outputs = model.forward().unwrap();
    let _: [[f32; 4]; 512] = *outputs.y();
}
