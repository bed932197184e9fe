//! What is put by indices: rows into a tensor that was copied, or is there already. Every index is looked at before
//! anything is written.

use bytemuck::Pod;

use super::gather::Indices;
use super::operands::{Operands, elements_mut, operands};
use super::typed::{self, Integer, with_integer};
use super::{CpuBuffer, Memory};
use crate::{Call, Error, Kernel, op};

impl<M: Memory> Kernel<op::Scatter> for CpuBuffer<M> {
    fn run(&mut self, call: &Call<'_, op::Scatter>) -> Result<(), Error> {
        let bytes = self.memory.bytes_mut();
        let Some(view) = call.outputs.first() else { return put::<u8>(bytes, call, |_, new| new) };
        if call.op.reduce == 0 {
            return match view.dtype.size() {
                1 => put::<u8>(bytes, call, |_, new| new),
                2 => put::<u16>(bytes, call, |_, new| new),
                4 => put::<u32>(bytes, call, |_, new| new),
                _ => put::<u64>(bytes, call, |_, new| new),
            };
        }
        with_integer!(view.dtype, T => match call.op.reduce {
            1 => put::<T>(bytes, call, Integer::add),
            2 => put::<T>(bytes, call, Integer::mul),
            3 => put::<T>(bytes, call, Ord::max),
            _ => put::<T>(bytes, call, Ord::min),
        }, match call.op.reduce {
            1 => put::<f32>(bytes, call, |old, new| old + new),
            2 => put::<f32>(bytes, call, |old, new| old * new),
            3 => put::<f32>(bytes, call, |old, new| if new > old || new.is_nan() { new } else { old }),
            _ => put::<f32>(bytes, call, |old, new| if new < old || new.is_nan() { new } else { old }),
        })
    }
}

/// Joins each update with what is at its index, in the order of the indices.
fn put<T: Pod>(bytes: &mut [u8], call: &Call<'_, op::Scatter>, join: impl Fn(T, T) -> T) -> Result<(), Error> {
    let Operands { output, inputs: [x, index, updates], .. } = operands::<_, u8, 3>(bytes, call)?;
    let (output, x, updates) = (elements_mut::<T>(output)?, x.of::<T>()?, typed::slice::<T>(updates)?);
    let (dims, axis) = (call.outputs[0].dims(), call.op.axis);
    let indices = Indices::new(index, &call.inputs[1])?;
    indices.check("scatter", dims[axis])?;
    if let Some(x) = x.slice() {
        output.copy_from_slice(x);
    }
    let inner: usize = dims[axis + 1..].iter().product();
    if updates.is_empty() {
        return Ok(());
    }
    let mut rows = updates.chunks_exact(inner);
    for block in output.chunks_exact_mut(dims[axis] * inner) {
        for at in 0..indices.len() {
            let (Some(index), Some(row)) = (indices.within(at, dims[axis]), rows.next()) else { continue };
            for (old, new) in block[index * inner..][..inner].iter_mut().zip(row) {
                *old = join(*old, *new);
            }
        }
    }
    Ok(())
}
