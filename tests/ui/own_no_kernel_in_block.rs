//! A backend without a kernel for an operator that a block brings.

use model_graph::{Cpu, model_graph};

mod elsewhere {
    use model_graph::{model_graph, operator};

    #[operator(fn(x: f32[..]) -> f32[..])]
    struct Snake;

    #[model_graph(dims(N = _))]
    pub(crate) struct Block {
        #[input]
        x: Tensor<f32, N>,
        #[output(Snake(x))]
        y: _,
    }
}

#[model_graph]
struct Model {
    #[input]
    x: Tensor<f32, 4>,
    #[output(elsewhere::Block<N = 4>(x))]
    y: _,
}

fn main() {
    let mut model = Model::new(&Cpu).unwrap();
    model.forward().unwrap();
}
