//! A backend without a kernel for the operator.

use model_graph::{Buffer, Call, Error, Kernel, model_graph, op, operator};

#[operator(fn(x: f32[..]) -> f32[..])]
struct Snake;

#[model_graph]
struct Model {
    #[input]
    x: Tensor<f32, 4>,
    #[output(Snake(x))]
    y: _,
}

/// A backend that only adds.
struct Adder;

impl Buffer for Adder {
    fn name(&self) -> &'static str {
        "adder"
    }
    fn base(&self) -> usize {
        0
    }
    fn size(&self) -> usize {
        0
    }
    fn memset(&mut self, _: usize, _: usize, _: u8) -> Result<(), Error> {
        Ok(())
    }
    fn set(&mut self, _: usize, _: &[u8]) -> Result<(), Error> {
        Ok(())
    }
    fn get(&self, _: usize, _: &mut [u8]) -> Result<(), Error> {
        Ok(())
    }
    fn copy_from(&mut self, _: usize, _: &dyn Buffer, _: usize, _: usize) -> Result<bool, Error> {
        Ok(false)
    }
    fn with_host(&mut self, _: usize, _: usize, _: &mut dyn FnMut(&mut [u8])) -> Result<(), Error> {
        Ok(())
    }
}

impl Kernel<op::Add> for Adder {
    fn run(&mut self, _: &Call<'_, op::Add>) -> Result<(), Error> {
        Ok(())
    }
}

fn main() {
    let mut model = Model::from_buffer(Adder).unwrap();
    model.forward().unwrap();
}
