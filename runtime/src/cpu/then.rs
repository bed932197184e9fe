//! Epilogues: elementwise stages applied to each block of a result as soon as the block is complete and still in the
//! cache. An element goes through the same functions as in steps of their own, so the bits are the same.

use model_graph_planner::op::Described;
pub(super) use model_graph_planner::op::MAX_OPERANDS;

use super::nest::Nest;
use super::operands::{Input, Operands, broadcast, fused_operands, length};
use super::unary::gather;
use super::{CpuBuffer, Memory};
use crate::{Call, Error, Kernel, View, op};

/// A stage's other operand along one row.
#[derive(Clone, Copy)]
pub(super) enum Other<'a> {
    /// As many elements as the row has.
    Row(&'a [f32]),
    /// One element for all.
    One(f32),
}

/// An elementwise operator as a stage.
pub(super) trait Stage {
    /// Whether it takes a second operand.
    const OTHER: bool;

    /// Applies it to a row of results. `side` says which of its operands the results are.
    fn apply(&self, y: &mut [f32], other: Other<'_>, side: usize);
}

/// What a kernel calls with each complete block of its output and the position of the block's first element.
pub(super) type Finish<'f> = dyn FnMut(&mut [f32], usize) + 'f;

/// An operator whose kernel hands out its output block by block.
pub(super) trait Blocks: Described {
    /// Writes the output, and calls `finish` once for every element of it.
    fn blocks(&self, operands: Operands<'_, f32, MAX_OPERANDS>, call: [&[View]; 2], finish: &mut Finish<'_>);
}

/// An operator that takes stages, with those it has.
pub(super) trait Chain: Copy {
    /// The operator that they follow.
    type Base: Blocks;

    /// That operator.
    fn base(&self) -> &Self::Base;

    /// How many operands the stages take.
    const OTHERS: usize;

    /// Applies the stages, in order, to a row that starts at element `at` of a packed output of these extents.
    fn apply(&self, y: &mut [f32], at: usize, dims: &[usize], others: &[(&View, &[f32])]);
}

macro_rules! bases {
    ($($name:ident)*) => { $(
        impl Chain for op::$name {
            type Base = op::$name;

            const OTHERS: usize = 0;

            fn base(&self) -> &op::$name {
                self
            }

            fn apply(&self, _: &mut [f32], _: usize, _: &[usize], _: &[(&View, &[f32])]) {}
        }
    )* };
}
bases! { MatMul Conv2d Conv1d ConvTranspose2d ConvTranspose1d }

impl<B: Chain, S: Stage + Copy> Chain for op::Then<B, S> {
    type Base = B::Base;

    const OTHERS: usize = B::OTHERS + S::OTHER as usize;

    fn base(&self) -> &B::Base {
        self.base.base()
    }

    fn apply(&self, y: &mut [f32], at: usize, dims: &[usize], others: &[(&View, &[f32])]) {
        self.base.apply(y, at, dims, others);
        match others.get(B::OTHERS).filter(|_| S::OTHER) {
            None => self.stage.apply(y, Other::One(0.0), self.side),
            Some((view, elements)) => {
                along(y, at, dims, view, elements, |y, other| self.stage.apply(y, other, self.side));
            }
        }
    }
}

/// Cuts a run of the output into pieces along which an operand, broadcast to the output, is a row or one element.
fn along(
    y: &mut [f32],
    at: usize,
    dims: &[usize],
    view: &View,
    elements: &[f32],
    mut apply: impl FnMut(&mut [f32], Other<'_>),
) {
    let strides = broadcast(view, dims);
    // The packed output's own strides keep dimensions apart that the operand alone would let merge.
    let nest = Nest::new(dims, [&strides[..dims.len()]]);
    let (count, [step]) = nest.row();
    let mut rest = y;
    let mut position = at;
    while !rest.is_empty() {
        let within = position % count;
        let (piece, more) = rest.split_at_mut((count - within).min(rest.len()));
        let [from] = nest.row_at(position / count);
        let from = from + within * step;
        position += piece.len();
        rest = more;
        match step {
            0 => apply(piece, Other::One(elements[from])),
            1 => apply(piece, Other::Row(&elements[from..from + piece.len()])),
            _ => {
                let mut block = [0.0; 64];
                for (index, piece) in piece.chunks_mut(64).enumerate() {
                    let block = &mut block[..piece.len()];
                    gather(elements, from + index * 64 * step, step, block);
                    apply(piece, Other::Row(block));
                }
            }
        }
    }
}

impl<M: Memory, B: Chain, S: Stage + Copy> Kernel<op::Then<B, S>> for CpuBuffer<M> {
    fn run(&mut self, call: &Call<'_, op::Then<B, S>>) -> Result<(), Error> {
        let others = <op::Then<B, S> as Chain>::OTHERS;
        let Some(count) = call.inputs.len().checked_sub(others).filter(|_| call.inputs.len() <= MAX_OPERANDS) else {
            return Err(length(others, call.inputs.len()));
        };
        let base = call.op.base();
        let operands = fused_operands(self.memory.bytes_mut(), base, count, call)?;
        let output = &call.outputs[0];
        let mut given: [(&View, &[f32]); MAX_OPERANDS] = [(output, &[]); MAX_OPERANDS];
        for (given, (view, input)) in given.iter_mut().zip(call.inputs.iter().zip(operands.inputs).skip(count)) {
            // Only the base's own operands can be left out or be the output.
            *given = (view, input.slice().unwrap_or(&[]));
        }
        let mut operands = operands;
        operands.inputs[count..].fill(Input::Absent);
        base.blocks(operands, [call.inputs, call.outputs], &mut |block, at| {
            call.op.apply(block, at, output.dims(), &given[..others]);
        });
        Ok(())
    }
}
