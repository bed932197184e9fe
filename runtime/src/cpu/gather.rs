//! What is looked up or made by indices: rows of a table, one-hot rows, triangles, stretched tensors. Every index is
//! looked at before anything is written.

use bytemuck::Pod;

use super::copy::walk;
use super::nest::Nest;
use super::operands::{Input, Operands, elements, elements_mut, operands};
use super::typed::{self, with_type};
use super::{CpuBuffer, Memory};
use crate::{Block, BlockQ4_0, BlockQ8_0, Call, DType, Error, ErrorKind, Kernel, View, op};

/// Packed indices of any type.
#[derive(Clone, Copy)]
pub(super) enum Indices<'a> {
    I32(&'a [i32]),
    U32(&'a [u32]),
    I64(&'a [i64]),
}

impl<'a> Indices<'a> {
    pub(super) fn new(bytes: Input<'a, u8>, view: &View) -> Result<Indices<'a>, Error> {
        let bytes = bytes.slice().unwrap_or(&[]);
        Ok(match view.dtype {
            DType::I32 => Indices::I32(elements(bytes)?),
            DType::U32 => Indices::U32(elements(bytes)?),
            _ => Indices::I64(elements(bytes)?),
        })
    }

    pub(super) fn len(self) -> usize {
        match self {
            Indices::I32(all) => all.len(),
            Indices::U32(all) => all.len(),
            Indices::I64(all) => all.len(),
        }
    }

    fn get(self, at: usize) -> i64 {
        match self {
            Indices::I32(all) => all[at].into(),
            Indices::U32(all) => all[at].into(),
            Indices::I64(all) => all[at],
        }
    }

    /// The index at that place, negative counted from the end, if it is below `extent`.
    pub(super) fn within(self, at: usize, extent: usize) -> Option<usize> {
        let index = self.get(at);
        let index = match usize::try_from(index) {
            Ok(index) => index,
            Err(_) if index < 0 => extent.checked_sub(usize::try_from(index.unsigned_abs()).ok()?)?,
            Err(_) => return None,
        };
        (index < extent).then_some(index)
    }

    /// Fails unless all are below `extent`.
    pub(super) fn check(self, op: &'static str, extent: usize) -> Result<(), Error> {
        match (0..self.len()).find(|at| self.within(*at, extent).is_none()) {
            None => Ok(()),
            Some(at) => Err(ErrorKind::IndexOutOfRange { op, index: self.get(at), extent }.into()),
        }
    }
}

impl<M: Memory> Kernel<op::Gather> for CpuBuffer<M> {
    fn run(&mut self, call: &Call<'_, op::Gather>) -> Result<(), Error> {
        let Operands { output, inputs: [table, index], .. } = operands::<_, u8, 2>(self.memory.bytes_mut(), call)?;
        let (view, axis) = (&call.inputs[0], call.op.axis);
        let indices = Indices::new(index, &call.inputs[1])?;
        indices.check("gather", view.dims[axis])?;
        with_type!(view.dtype, [Q8_0 BlockQ8_0, Q4_0 BlockQ4_0], B => {
            return blocks::<B>(typed::slice(table)?, view, axis, indices, elements_mut(output)?);
        }, {});
        match view.dtype.size() {
            1 => rows::<u8>(typed::slice(table)?, view, axis, indices, output),
            2 => rows::<u16>(typed::slice(table)?, view, axis, indices, elements_mut(output)?),
            4 => rows::<u32>(typed::slice(table)?, view, axis, indices, elements_mut(output)?),
            _ => rows::<u64>(typed::slice(table)?, view, axis, indices, elements_mut(output)?),
        }
        Ok(())
    }
}

/// Copies what lies at each index.
fn rows<T: Pod>(table: &[T], view: &View, axis: usize, indices: Indices<'_>, output: &mut [T]) {
    let (dims, strides) = (view.dims(), view.strides());
    let outer = Nest::new(&dims[..axis], [&strides[..axis]]);
    let inner = Nest::new(&dims[axis + 1..], [&strides[axis + 1..]]);
    let (count, [step]) = inner.row();
    let mut rest = output;
    outer.each(|[start]| {
        for at in 0..indices.len() {
            let Some(index) = indices.within(at, dims[axis]) else { continue };
            inner.rows(|[from]| {
                let from = start + index * strides[axis] + from;
                let (row, more) = core::mem::take(&mut rest).split_at_mut(count);
                if step == 1 {
                    row.copy_from_slice(&table[from..from + count]);
                } else {
                    super::unary::gather(table, from, step, row);
                }
                rest = more;
            });
        }
    });
}

/// Dequantises the rows at each index; the axis is not the last.
fn blocks<B: Block>(
    table: &[B],
    view: &View,
    axis: usize,
    indices: Indices<'_>,
    output: &mut [f32],
) -> Result<(), Error> {
    let dims = view.dims();
    let columns = dims[dims.len() - 1];
    let per_row = columns.div_ceil(crate::BLOCK);
    let outer: usize = dims[..axis].iter().product();
    let inner: usize = dims[axis + 1..dims.len() - 1].iter().product();
    if output.is_empty() {
        return Ok(());
    }
    let mut rows = output.chunks_exact_mut(columns);
    for start in 0..outer {
        for at in 0..indices.len() {
            let Some(index) = indices.within(at, dims[axis]) else { continue };
            for row in 0..inner {
                let from = ((start * dims[axis] + index) * inner + row) * per_row;
                let Some(target) = rows.next() else { return Ok(()) };
                crate::dequantise(&table[from..from + per_row], columns, target)?;
            }
        }
    }
    Ok(())
}

impl<M: Memory> Kernel<op::OneHot> for CpuBuffer<M> {
    fn run(&mut self, call: &Call<'_, op::OneHot>) -> Result<(), Error> {
        let Operands { output, inputs: [index], .. } = operands::<_, u8, 1>(self.memory.bytes_mut(), call)?;
        let output: &mut [f32] = elements_mut(output)?;
        let indices = Indices::new(index, &call.inputs[0])?;
        let op::OneHot { depth, axis } = call.op;
        let inner: usize = call.inputs[0].dims()[axis..].iter().product();
        output.fill(0.0);
        for at in 0..indices.len() {
            if let Some(index) = indices.within(at, depth) {
                output[(at / inner * depth + index) * inner + at % inner] = 1.0;
            }
        }
        Ok(())
    }
}

impl<M: Memory> Kernel<op::Trilu> for CpuBuffer<M> {
    fn run(&mut self, call: &Call<'_, op::Trilu>) -> Result<(), Error> {
        let bytes = self.memory.bytes_mut();
        match call.outputs.first().map_or(4, |output| output.dtype.size()) {
            1 => triangle::<u8>(bytes, call),
            2 => triangle::<u16>(bytes, call),
            4 => triangle::<u32>(bytes, call),
            _ => triangle::<u64>(bytes, call),
        }
    }
}

/// All bits 0 are the number 0 in every element type.
fn triangle<T: Pod>(bytes: &mut [u8], call: &Call<'_, op::Trilu>) -> Result<(), Error> {
    let Operands { output, inputs: [input], .. } = operands::<_, T, 1>(bytes, call)?;
    if let Some(x) = input.slice() {
        output.copy_from_slice(x);
    }
    let op::Trilu { upper, right, left } = call.op;
    let dims = call.outputs[0].dims();
    let [.., rows, columns] = *dims else { return Ok(()) };
    if output.is_empty() {
        return Ok(());
    }
    for (index, line) in output.chunks_exact_mut(columns).enumerate() {
        let diagonal = (index % rows).saturating_add(right);
        // The columns before the diagonal, and those up to it.
        let before = diagonal.saturating_sub(left).min(columns);
        let up_to = diagonal.saturating_add(1).saturating_sub(left).min(columns);
        let zeros = if upper { 0..before } else { up_to..columns };
        line[zeros].fill(T::zeroed());
    }
    Ok(())
}

impl<M: Memory> Kernel<op::BroadcastTo> for CpuBuffer<M> {
    fn run(&mut self, call: &Call<'_, op::BroadcastTo>) -> Result<(), Error> {
        let bytes = self.memory.bytes_mut();
        match call.outputs.first().map_or(4, |output| output.dtype.size()) {
            1 => stretch::<u8>(bytes, call),
            2 => stretch::<u16>(bytes, call),
            4 => stretch::<u32>(bytes, call),
            _ => stretch::<u64>(bytes, call),
        }
    }
}

fn stretch<T: Pod>(bytes: &mut [u8], call: &Call<'_, op::BroadcastTo>) -> Result<(), Error> {
    let Operands { output, inputs: [input], .. } = operands::<_, T, 1>(bytes, call)?;
    if let Some(x) = input.slice() {
        walk(x, output, &call.inputs[0], &call.outputs[0]);
    }
    Ok(())
}
