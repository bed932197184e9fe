//! Products with a weight whose rows are the outputs, in any float or in blocks: a run of a row is turned into `f32` on the
//! stack and used for several rows of the left side before the next.
//!
//! Product `k` of a result goes to partial sum `k % LANES`; these are joined as a tree. Tiles, element types and the
//! number of rows change nothing in that order.

use half::slice::HalfFloatSliceExt;

use super::operands::{Input, Operands, elements, elements_mut, operands};
use super::wide::wide;
use super::{CpuBuffer, Memory};
use crate::{Block, BlockQ4_0, BlockQ8_0, Call, DType, Error, Kernel, View, bf16, f16, op};

/// Partial sums of a dot product.
const LANES: usize = 8;

/// Weights that are turned into `f32` at a time: whole blocks, and a multiple of the lanes.
const RUN: usize = 256;

/// Rows of the left side that use them.
const ROWS: usize = 4;

/// Packed rows.
#[derive(Clone, Copy)]
enum Rows<'a> {
    F32(&'a [f32]),
    F16(&'a [f16]),
    BF16(&'a [bf16]),
    Q8(&'a [BlockQ8_0]),
    Q4(&'a [BlockQ4_0]),
}

impl<'a> Rows<'a> {
    fn new(bytes: Input<'a, u8>, view: &View) -> Result<Rows<'a>, Error> {
        let bytes = bytes.slice().unwrap_or(&[]);
        Ok(match view.dtype {
            DType::F16 => Rows::F16(elements(bytes)?),
            DType::BF16 => Rows::BF16(elements(bytes)?),
            DType::Q8_0 => Rows::Q8(elements(bytes)?),
            DType::Q4_0 => Rows::Q4(elements(bytes)?),
            _ => Rows::F32(elements(bytes)?),
        })
    }

    /// Elements `k .. k + len` of a row of `columns`, as `f32`; in `run` unless they are there already. `k` is a multiple
    /// of [`RUN`].
    #[inline(always)]
    fn run<'r>(&self, row: usize, columns: usize, k: usize, len: usize, run: &'r mut [f32; RUN]) -> &'r [f32]
    where
        'a: 'r,
    {
        let at = row * columns + k;
        let run = &mut run[..len];
        match self {
            Rows::F32(all) => return &all[at..at + len],
            Rows::F16(all) => all[at..at + len].convert_to_f32_slice(run),
            Rows::BF16(all) => all[at..at + len].convert_to_f32_slice(run),
            Rows::Q8(all) => blocks(all, row, columns, k, run),
            Rows::Q4(all) => blocks(all, row, columns, k, run),
        }
        run
    }
}

#[inline(always)]
fn blocks<B: Block>(all: &[B], row: usize, columns: usize, k: usize, run: &mut [f32]) {
    let at = row * columns.div_ceil(crate::BLOCK) + k / crate::BLOCK;
    for (weights, block) in run.chunks_mut(crate::BLOCK).zip(&all[at..]) {
        weights.copy_from_slice(&block.dequantise()[..weights.len()]);
    }
}

impl<M: Memory> Kernel<op::Linear> for CpuBuffer<M> {
    fn run(&mut self, call: &Call<'_, op::Linear>) -> Result<(), Error> {
        let Operands { output, inputs: [x, w, bias], .. } = operands::<_, u8, 3>(self.memory.bytes_mut(), call)?;
        let (x_view, w_view) = (&call.inputs[0], &call.inputs[1]);
        let (columns, outputs) = (w_view.dims[1], w_view.dims[0]);
        let rows = x_view.elements() / columns.max(1);
        let rows = if columns == 0 { x_view.dims()[..x_view.rank - 1].iter().product() } else { rows };
        let (x, w) = (Rows::new(x, x_view)?, Rows::new(w, w_view)?);
        let bias = match call.inputs.get(2) {
            Some(view) => Some(Rows::new(bias, view)?),
            None => None,
        };
        let sides = Sides { x, w, bias, extents: [rows, outputs, columns] };
        match x_view.dtype {
            DType::F16 => {
                let y: &mut [f16] = elements_mut(output)?;
                product(&sides, &mut |at, value| y[at] = f16::from_f32(value));
            }
            DType::BF16 => {
                let y: &mut [bf16] = elements_mut(output)?;
                product(&sides, &mut |at, value| y[at] = bf16::from_f32(value));
            }
            _ => {
                let y: &mut [f32] = elements_mut(output)?;
                product(&sides, &mut |at, value| y[at] = value);
            }
        }
        Ok(())
    }
}

struct Sides<'a> {
    x: Rows<'a>,
    w: Rows<'a>,
    bias: Option<Rows<'a>>,
    /// Rows of `x`, rows of `w`, and the elements of both.
    extents: [usize; 3],
}

wide! {
    fn product(sides: &Sides<'_>, put: &mut dyn FnMut(usize, f32)) {
        let Sides { x, w, bias, extents: [rows, outputs, columns] } = sides;
        let (rows, outputs, columns) = (*rows, *outputs, *columns);
        let (mut x_run, mut w_run) = ([0.0; RUN], [0.0; RUN]);
        for top in (0..rows).step_by(ROWS) {
            let height = (rows - top).min(ROWS);
            for output in 0..outputs {
                let mut sums = [[0.0; LANES]; ROWS];
                for k in (0..columns).step_by(RUN) {
                    let len = (columns - k).min(RUN);
                    let w = w.run(output, columns, k, len, &mut w_run);
                    for (row, sums) in sums[..height].iter_mut().enumerate() {
                        dot(x.run(top + row, columns, k, len, &mut x_run), w, sums);
                    }
                }
                let mut one = [0.0; RUN];
                let more = bias.as_ref().map_or(0.0, |bias| bias.run(0, outputs, output, 1, &mut one)[0]);
                for (row, sums) in sums[..height].iter().enumerate() {
                    let [a, b, c, d, e, f, g, h] = *sums;
                    let sum = ((a + e) + (c + g)) + ((b + f) + (d + h));
                    put((top + row) * outputs + output, if bias.is_some() { sum + more } else { sum });
                }
            }
        }
    }
}

/// Adds the products of two runs to the partial sums.
#[inline(always)]
fn dot(x: &[f32], w: &[f32], sums: &mut [f32; LANES]) {
    let (x_chunks, x_rest) = x.as_chunks::<LANES>();
    let (w_chunks, w_rest) = w.as_chunks::<LANES>();
    for (x, w) in x_chunks.iter().zip(w_chunks) {
        for lane in 0..LANES {
            sums[lane] += x[lane] * w[lane];
        }
    }
    for ((sum, x), w) in sums.iter_mut().zip(x_rest).zip(w_rest) {
        *sum += x * w;
    }
}
