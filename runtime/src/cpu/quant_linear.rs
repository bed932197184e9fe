//! Rows of `i8` times the rows of a matrix.

use super::operands::{Operands, operands};
use super::quant::typed;
use super::quant_conv::{BLOCK, Finish, Rescale, dot};
use super::wide::wide;
use super::{CpuBuffer, Memory};
use crate::{Call, Error, Kernel, op};

impl<M: Memory> Kernel<op::QLinear> for CpuBuffer<M> {
    fn run(&mut self, call: &Call<'_, op::QLinear>) -> Result<(), Error> {
        let op::QLinear { x_zero, y_zero, low, high } = call.op;
        let Operands { output, inputs: [x, w, rest @ ..], .. } = operands::<_, u8, 6>(self.memory.bytes_mut(), call)?;
        let mut finish = Rescale::new(output, rest, y_zero, [low, high])?;
        finish.scales.linear = true;
        let [rows, depth] = [call.inputs[1].dims[0], call.inputs[1].dims[1]];
        product(typed(x)?, x_zero, typed(w)?, [rows, depth], &mut finish);
        Ok(())
    }
}

wide! {
    /// `size` is how many rows `w` has, and how long they are.
    fn product(x: &[i8], zero: i32, w: &[i8], size: [usize; 2], finish: &mut Rescale<'_>) {
        let [rows, depth] = size;
        let count = finish.y.len().checked_div(rows).unwrap_or(0);
        for first in (0..rows).step_by(BLOCK) {
            let width = (rows - first).min(BLOCK);
            finish.block(first, width);
            for at in 0..count {
                let x = &x[at * depth..][..depth];
                for index in 0..width {
                    let w = &w[(first + index) * depth..][..depth];
                    finish.put(at * rows + first + index, index, dot(x, zero, w));
                }
            }
        }
    }
}
