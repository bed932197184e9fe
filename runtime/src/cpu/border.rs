//! Borders that repeat what they surround, strided or packed.

use super::nest::Nest;
use super::operands::{Operands, operands};
use super::{CpuBuffer, Memory};
use crate::{Call, Error, Kernel, op};

impl<M: Memory> Kernel<op::Border> for CpuBuffer<M> {
    fn run(&mut self, call: &Call<'_, op::Border>) -> Result<(), Error> {
        let Operands { output, inputs: [x], .. }: Operands<'_, f32, 1> = operands(self.memory.bytes_mut(), call)?;
        let Some(x) = x.slice() else { return Ok(()) };
        let (x_view, y_view) = (&call.inputs[0], &call.outputs[0]);
        let op::Border { axis, count, first, back } = call.op;
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
}
