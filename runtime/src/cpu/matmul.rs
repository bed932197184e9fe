//! Matrix products with numpy's rules: batches broadcast, either side strided or transposed, a packed result.
//!
//! `c[.., i, j] = Σ_k a[.., i, k] b[.., k, j]`; see [`super::gemm`] for the order of the sum.

use super::gemm::{Matrix, block_rows, gemm};
use super::nest::Nest;
use super::operands::{Input, Operands, operands};
use super::then::{Blocks, Finish, MAX_OPERANDS};
use super::{CpuBuffer, Memory};
use crate::{Call, Error, Kernel, MAX_RANK, View, op};

impl<M: Memory> Kernel<op::MatMul> for CpuBuffer<M> {
    fn run(&mut self, call: &Call<'_, op::MatMul>) -> Result<(), Error> {
        let Operands { output, inputs: [a, b], .. } = operands(self.memory.bytes_mut(), call)?;
        matmul(output, [a, b], call.inputs, None);
        Ok(())
    }
}

impl Blocks for op::MatMul {
    fn blocks(&self, operands: Operands<'_, f32, MAX_OPERANDS>, [inputs, _]: [&[View]; 2], finish: &mut Finish<'_>) {
        let Operands { output, inputs: [a, b, ..], .. } = operands;
        matmul(output, [a, b], inputs, Some(finish));
    }
}

/// Extents and strides of the last two dimensions, and how many dimensions come before.
struct Sides {
    rows: (usize, usize),
    columns: (usize, usize),
    batch: usize,
}

fn left(view: &View) -> Sides {
    let last = view.rank - 1;
    let columns = (view.dims[last], view.strides[last]);
    let rows = if last > 0 { (view.dims[last - 1], view.strides[last - 1]) } else { (1, 0) };
    Sides { rows, columns, batch: view.rank.saturating_sub(2) }
}

fn right(view: &View) -> Sides {
    if view.rank == 1 {
        return Sides { rows: (view.dims[0], view.strides[0]), columns: (1, 0), batch: 0 };
    }
    left(view)
}

fn matmul(output: &mut [f32], [a, b]: [Input<'_, f32>; 2], views: &[View], mut finish: Option<&mut Finish<'_>>) {
    let (Some(a), Some(b)) = (a.slice(), b.slice()) else { return };
    let (a_view, b_view) = (&views[0], &views[1]);
    output.fill(0.0);
    let (left, right) = (left(a_view), right(b_view));
    let (m, k, n) = (left.rows.0, left.columns.0, right.columns.0);
    if output.is_empty() || k == 0 {
        if let Some(finish) = finish {
            finish(output, 0);
        }
        return;
    }
    // The loops over the batch and, innermost, over the rows of the left side. Where the batch does not move the right
    // side, it merges with the rows into one taller product.
    let rank = left.batch.max(right.batch);
    let mut dims = [1; MAX_RANK + 1];
    let mut strides = [[0; MAX_RANK + 1]; 3];
    (dims[rank], strides[0][rank], strides[1][rank]) = (m, n, left.rows.1);
    let mut step = m * n;
    for axis in (0..rank).rev() {
        let batch = |view: &View, sides: &Sides| {
            let at = (axis + sides.batch).checked_sub(rank)?;
            (view.dims[at] > 1).then_some((view.dims[at], view.strides[at]))
        };
        let (of_a, of_b) = (batch(a_view, &left), batch(b_view, &right));
        dims[axis] = of_a.or(of_b).map_or(1, |(dim, _)| dim);
        strides[0][axis] = step;
        strides[1][axis] = of_a.map_or(0, |(_, stride)| stride);
        strides[2][axis] = of_b.map_or(0, |(_, stride)| stride);
        step *= dims[axis];
    }
    let [to, from_a, from_b] = &strides;
    let nest = Nest::new(&dims[..=rank], [&to[..=rank], &from_a[..=rank], &from_b[..=rank]]);
    let (rows, [c_row, a_row, b_row]) = nest.row();
    let mut product = |rows: usize, [at, a_at, b_at]: [usize; 3], output: &mut [f32]| {
        let b = Matrix { data: &b[b_at..], row: right.rows.1, column: right.columns.1 };
        // Blocks of rows as the product itself takes them, each finished while it is in the cache.
        let block = if finish.is_some() { block_rows(k).min(rows) } else { rows };
        for top in (0..rows).step_by(block) {
            let rows = (rows - top).min(block);
            let a = Matrix { data: &a[a_at + top * a_row..], row: a_row, column: left.columns.1 };
            let c = &mut output[at + top * n..][..rows * n];
            gemm([rows, n, k], a, b, c);
            if let Some(finish) = &mut finish {
                finish(c, at + top * n);
            }
        }
    };
    if b_row == 0 && (c_row == n || rows == 1) {
        nest.rows(|at| product(rows, at, output));
    } else {
        nest.each(|at| product(1, at, output));
    }
}
