//! Three mistakes are shown by one compilation, and the model is there all the same.

use model_graph::{Cpu, model_graph};

#[model_graph(dims(BATCH = 2))]
struct Model {
    #[input]
    x: Tensor<f32, BATCH, 4>,
    #[weight]
    w: Tensor<f32, 5, 4>,
    #[node(relu(z))]
    a: Tensor<f32, BATCH, 4>,
    #[node(matmul(a, w))]
    b: _,
    #[output(softmax(a, axs = 1))]
    y: Tensor<f32, BATCH, 4>,
}

fn main() {
    let mut model = Model::new(&Cpu).unwrap();
    model.x_mut()[Model::BATCH - 1][3] = 1.0;
    let outputs = model.forward().unwrap();
    println!("{} {}", outputs.y()[0][0], Model::PLAN.size);
}
