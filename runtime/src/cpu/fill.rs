//! One number in every element, packed or strided.

use super::nest::Nest;
use super::operands::only_output;
use super::{CpuBuffer, Memory};
use crate::{Call, Error, Kernel, op};

impl<M: Memory> Kernel<op::Fill> for CpuBuffer<M> {
    fn run(&mut self, call: &Call<'_, op::Fill>) -> Result<(), Error> {
        let output: &mut [f32] = only_output(self.memory.bytes_mut(), call)?;
        let view = &call.outputs[0];
        let nest = Nest::new(view.dims(), [view.strides()]);
        let value = call.op.value;
        match nest.row() {
            (count, [1]) => nest.rows(|[at]| output[at..at + count].fill(value)),
            _ => nest.each(|[at]| output[at] = value),
        }
        Ok(())
    }
}
