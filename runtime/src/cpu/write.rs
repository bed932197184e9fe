//! Writing a state: rows of any element type, strided or not, copied to where a number or an operand says.

use bytemuck::Pod;

use super::copy::walk;
use super::operands::{Operands, written};
use super::{CpuBuffer, Memory};
use crate::{Call, Error, Kernel, View, op};

impl<M: Memory> Kernel<op::Write> for CpuBuffer<M> {
    fn run(&mut self, call: &Call<'_, op::Write>) -> Result<(), Error> {
        let bytes = self.memory.bytes_mut();
        match call.outputs.first().map_or(1, |output| output.dtype.size()) {
            1 => write::<u8>(bytes, call),
            2 => write::<u16>(bytes, call),
            4 => write::<u32>(bytes, call),
            _ => write::<u64>(bytes, call),
        }
    }
}

fn write<T: Pod>(bytes: &mut [u8], call: &Call<'_, op::Write>) -> Result<(), Error> {
    let (position, operands) = written::<T>(bytes, call)?;
    let Operands { output, inputs: [_, src], .. } = operands;
    let (Some(src), [_, from, ..], [state]) = (src.slice(), call.inputs, call.outputs) else { return Ok(()) };
    let to = View { dims: from.dims, ..*state };
    if to.elements() > 0 {
        let first = if call.op.whole { 0 } else { position * state.strides[call.op.axis] };
        walk(src, &mut output[first..], from, &to);
    }
    Ok(())
}
