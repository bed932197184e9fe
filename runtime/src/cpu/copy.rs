//! Copies between strided tensors of any element type.

use bytemuck::Pod;

use super::nest::Nest;
use super::operands::{Operands, broadcast, operands};
use super::unary::{gather, scatter};
use super::{CpuBuffer, Memory};
use crate::{Call, Error, Kernel, View, op};

impl<M: Memory> Kernel<op::Copy> for CpuBuffer<M> {
    fn run(&mut self, call: &Call<'_, op::Copy>) -> Result<(), Error> {
        run(self.memory.bytes_mut(), call)
    }
}

fn run(bytes: &mut [u8], call: &Call<'_, op::Copy>) -> Result<(), Error> {
    match call.outputs.first().map_or(1, |output| output.dtype.size()) {
        1 => copy::<u8>(bytes, call),
        2 => copy::<u16>(bytes, call),
        4 => copy::<u32>(bytes, call),
        _ => copy::<u64>(bytes, call),
    }
}

fn copy<T: Pod>(bytes: &mut [u8], call: &Call<'_, op::Copy>) -> Result<(), Error> {
    let Operands { output, inputs: [input], .. } = operands::<_, T, 1>(bytes, call)?;
    let (Some(x), y_view) = (input.slice(), &call.outputs[0]) else { return Ok(()) };
    walk(x, output, &call.inputs[0], y_view);
    Ok(())
}

/// Copies the elements of one view, which `x` begins with, to those of another of the same extents.
pub(super) fn walk<T: Pod>(x: &[T], output: &mut [T], x_view: &View, y_view: &View) {
    let dims = y_view.dims();
    let nest = Nest::new(dims, [&broadcast(y_view, dims), &broadcast(x_view, dims)]);
    let (count, [y_step, x_step]) = nest.row();
    if count == 1 || y_step == 1 && x_step == 1 {
        nest.rows(|[y, from]| output[y..y + count].copy_from_slice(&x[from..from + count]));
    } else if y_step == 1 {
        nest.rows(|[y, from]| gather(x, from, x_step, &mut output[y..y + count]));
    } else if x_step == 1 {
        nest.rows(|[y, from]| scatter(&x[from..from + count], output, y, y_step));
    } else {
        nest.each(|[y, from]| output[y] = x[from]);
    }
}
