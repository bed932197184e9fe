//! A kernel that takes another number of inputs than its operator.

use model_graph::cpu::{Memory, Operands, operands};
use model_graph::{Call, Cpu, CpuBuffer, Error, Kernel, model_graph, operator};

#[operator(fn(x: f32[..]) -> f32[..])]
struct Snake;

impl<M: Memory> Kernel<Snake> for CpuBuffer<M> {
    fn run(&mut self, call: &Call<'_, Snake>) -> Result<(), Error> {
        let Operands { inputs: [_, _], .. } = operands(self, call)?;
        Ok(())
    }
}

#[model_graph]
struct Model {
    #[input]
    x: Tensor<f32, 4>,
    #[output(Snake(x))]
    y: _,
}

fn main() {
    let mut model = Model::new(&Cpu).unwrap();
    model.forward().unwrap();
}
