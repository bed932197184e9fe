//! Borders that repeat what they surround, strided or packed.

use bytemuck::Pod;

use super::nest::Nest;
use super::operands::{Operands, operands};
use super::{CpuBuffer, Memory};
use crate::{Call, Error, Kernel, op};

impl<M: Memory> Kernel<op::Border> for CpuBuffer<M> {
    fn run(&mut self, call: &Call<'_, op::Border>) -> Result<(), Error> {
        let bytes = self.memory.bytes_mut();
        // Elements are moved and not looked at, so that their size is all that matters.
        match call.outputs.first().map_or(4, |output| output.dtype.size()) {
            1 => repeat::<u8>(bytes, call),
            2 => repeat::<u16>(bytes, call),
            4 => repeat::<u32>(bytes, call),
            _ => repeat::<u64>(bytes, call),
        }
    }
}

fn repeat<T: Pod>(bytes: &mut [u8], call: &Call<'_, op::Border>) -> Result<(), Error> {
    let Operands { output, inputs: [x], .. }: Operands<'_, T, 1> = operands(bytes, call)?;
    let Some(x) = x.slice() else { return Ok(()) };
    let (x_view, y_view) = (&call.inputs[0], &call.outputs[0]);
    let op::Border { axis, count, first, back } = call.op;
    let first = first.size;
    let mut others = y_view.dims;
    others[axis] = 1;
    let nest = Nest::new(&others[..y_view.rank], [x_view.strides(), y_view.strides()]);
    for index in 0..count {
        let from = if back { first - index } else { first } * x_view.strides[axis];
        let to = index * y_view.strides[axis];
        nest.each(|[x_at, y_at]| output[to + y_at] = x[from + x_at]);
    }
    Ok(())
}
