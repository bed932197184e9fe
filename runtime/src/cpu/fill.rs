//! One number in every element, packed or strided.

use bytemuck::Pod;

use super::nest::Nest;
use super::operands::only_output;
use super::typed::{Integer, with_integer, with_type};
use super::{CpuBuffer, Memory};
use crate::{Bool, Call, Error, Kernel, bf16, f16, op};

impl<M: Memory> Kernel<op::Fill> for CpuBuffer<M> {
    fn run(&mut self, call: &Call<'_, op::Fill>) -> Result<(), Error> {
        let bytes = self.memory.bytes_mut();
        let value = call.op.value;
        with_integer!(call.op.dtype, T => return fill::<T>(bytes, call, T::from_f32(value)), {});
        with_type!(call.op.dtype, [F16 f16, BF16 bf16], H => return fill(bytes, call, H::from_f32(value)), {});
        with_type!(call.op.dtype, [Bool Bool], B => return fill(bytes, call, B::from(value != 0.0)), {});
        fill(bytes, call, value)
    }
}

fn fill<T: Pod>(bytes: &mut [u8], call: &Call<'_, op::Fill>, value: T) -> Result<(), Error> {
    let output: &mut [T] = only_output(bytes, call)?;
    let view = &call.outputs[0];
    let nest = Nest::new(view.dims(), [view.strides()]);
    match nest.row() {
        (count, [1]) => nest.rows(|[at]| output[at..at + count].fill(value)),
        _ => nest.each(|[at]| output[at] = value),
    }
    Ok(())
}
