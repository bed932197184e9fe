//! Scaled dot-product attention. Queries, keys and values may lie in any way, keys and values in half precision too; the
//! result is packed, and may be the queries' own place.
//!
//! For each block of a head's queries the products with the keys that any of them sees go into working space, a row for
//! each query; the rows become their softmax; and the values are summed with those weights. Values of keys that a query
//! does not see are not multiplied, not even with 0: what they hold may be infinite. `Σ_j p_j v_j` is added in the order of
//! `j`, or as a dot product of [`super::gemm`] where values lie column by column. Keys that a mask takes out are seen, with
//! the weight 0.
//!
//! Halves are unpacked a strip at a time, and laid so that their products are added in the order in which they would be if
//! they were `f32` and lay as they do.

use model_graph_planner::op::mask_and_past;

use core::ops::Range;

use super::gemm::{Matrix, gemm, gemm_into, in_lanes};
use super::operands::{Operands, broadcast, elements_mut, operands};
use super::softmax::row;
use super::strip::{Lying, Rows, products};
use super::wide::wide;
use super::{CpuBuffer, Memory};
use crate::{Call, Error, ErrorKind, Kernel, MAX_RANK, View, op};

impl<M: Memory> Kernel<op::Attention> for CpuBuffer<M> {
    fn run(&mut self, call: &Call<'_, op::Attention>) -> Result<(), Error> {
        let Operands { output, inputs, scratch } = operands::<_, u8, 5>(self.memory.bytes_mut(), call)?;
        let (mask, past) = mask_and_past(call.inputs.len(), |input| call.inputs[input].dtype);
        let (queries, keys) = (rows(&call.inputs[0]), rows(&call.inputs[1]));
        let given = match past {
            Some(input) => inputs[input].of::<u32>()?.slice(),
            None => None,
        };
        let past = given.map(|past| past[0] as usize);
        let mask = match mask {
            Some(input) => inputs[input].of()?.slice().map(|elements| (elements, &call.inputs[input])),
            None => None,
        };
        let q = inputs[0].of()?.slice();
        let [k, v] = [1, 2].map(|input| Rows::new(inputs[input], &call.inputs[input]));
        let (k, v) = (k?, v?);
        let (output, scratch) = (elements_mut(output)?, elements_mut(scratch)?);
        if let Some(past) = past
            && past.checked_add(queries).is_none_or(|end| end > keys)
        {
            return Err(ErrorKind::Past { past, queries, keys }.into());
        }
        // What is empty has neither keys nor values.
        if let (Some(k), Some(v)) = (k, v) {
            attention(call, (q, k, v, mask), past, output, scratch);
        }
        Ok(())
    }
}

/// The extent of the last dimension but one.
fn rows(view: &View) -> usize {
    view.dims[view.rank - 2]
}

/// A mask: its elements, and its strides when it is broadcast to the scores.
type Mask<'a> = Option<(&'a [f32], [usize; MAX_RANK])>;

/// Queries, keys, values and the mask. The queries are where the result goes unless they are given.
type Given<'a> = (Option<&'a [f32]>, Rows<'a>, Rows<'a>, Option<(&'a [f32], &'a View)>);

fn attention(
    call: &Call<'_, op::Attention>,
    (q, k, v, mask): Given<'_>,
    past: Option<usize>,
    output: &mut [f32],
    scratch: &mut [f32],
) {
    if output.is_empty() {
        return;
    }
    let [q_view, k_view, v_view] = [0, 1, 2].map(|input| &call.inputs[input]);
    let rank = q_view.rank;
    let (queries, depth, width) = (rows(q_view), q_view.dims[rank - 1], v_view.dims[rank - 1]);
    let keys = past.map_or(rows(k_view), |past| past + queries);
    let first = past.unwrap_or(0);
    let mut scores = q_view.dims;
    scores[rank - 1] = rows(k_view);
    let mask: Mask<'_> = mask.map(|(mask, view)| (mask, broadcast(view, &scores[..rank])));
    let (strip, scratch) = scratch.split_at_mut(op::Attention::strip(k_view.dtype, depth, width));
    let heads = if rank > 2 { q_view.dims[rank - 3] } else { 1 };
    let shared = if rank > 2 { heads / k_view.dims[rank - 3] } else { 1 };
    // Single queries of heads that share keys are rows of one block, so that each strip of halves is unpacked once for all.
    let grouped = queries == 1 && shared > 1 && k_view.dtype.is_half();
    let (count, group, down) = if grouped { (shared, shared, rank - 3) } else { (queries, 1, rank - 2) };
    for (index, y) in output.chunks_exact_mut(count * width).enumerate() {
        // Where the head starts in each operand. Heads that share keys are neighbours.
        let at = |strides: &[usize; MAX_RANK], shared: usize| {
            let mut rest = index * group;
            let mut at = 0;
            for axis in (0..rank - 2).rev() {
                let along = rest % q_view.dims[axis];
                rest /= q_view.dims[axis];
                at += strides[axis] * if axis + 3 == rank { along / shared } else { along };
            }
            at
        };
        let (q_at, k_at, v_at) = (at(&q_view.strides, 1), at(&k_view.strides, shared), at(&v_view.strides, shared));
        let mask = mask.map(|(mask, strides)| (mask, at(&strides, 1), [strides[down], strides[rank - 1]]));
        for (block, y) in y.chunks_mut(op::Attention::ROWS * width).enumerate() {
            let top = block * op::Attention::ROWS;
            let m = y.len() / width;
            let last = if grouped { first } else { first + top + m - 1 };
            let n = if call.op.causal { keys.min(last + 1) } else { keys };
            let scores = &mut scratch[..m * n];
            scores.fill(0.0);
            if n > 0 && depth > 0 {
                let row = q_view.strides[down];
                let data = match q {
                    Some(q) => &q[q_at + top * row..],
                    None => &*y,
                };
                let a = Matrix { data, row, column: q_view.strides[rank - 1] };
                let [row, column] = [k_view.strides[rank - 2], k_view.strides[rank - 1]];
                let by_row = in_lanes(n, column, row);
                Lying { rows: k, at: k_at, row, column }.strips([n, depth], by_row, strip, |keys, k| {
                    let b = Matrix { data: k.data, row: k.column, column: k.row };
                    gemm_into([m, keys.len(), depth], a, b, &mut scores[keys.start..], n);
                });
            }
            let sees = if call.op.causal && !grouped { first + top + 1 } else { usize::MAX / 2 };
            // A mask for no keys has no elements to start from.
            let mask = mask.filter(|_| n > 0).map(|(mask, at, strides)| (&mask[at + top * strides[0]..], strides));
            weights(scores, n, sees, call.op.scale, mask);
            y.fill(0.0);
            let [row, column] = [v_view.strides[rank - 2], v_view.strides[rank - 1]];
            let values = Lying { rows: v, at: v_at, row, column };
            // Strips would split dot products.
            if v_view.dtype.is_half() && in_lanes(width, row, column) {
                products(scores, n, sees, values, y, width);
            } else {
                values.strips([n, width], true, strip, |keys, v| sum(scores, n, sees, keys, v, y, width));
            }
        }
    }
}

/// Rows that are summed together as far as all of them see.
const STRIP: usize = 4;

/// `y += weights values`, for rows of `n` weights of which row `i` has `sees + i`, and the values of those of `strip`.
fn sum(weights: &[f32], n: usize, sees: usize, strip: Range<usize>, values: Matrix<'_>, y: &mut [f32], width: usize) {
    let m = weights.len() / n;
    let product = |rows: Range<usize>, keys: Range<usize>, y: &mut [f32]| {
        let keys = keys.start.max(strip.start)..keys.end.min(strip.end);
        if keys.is_empty() {
            return;
        }
        let a = Matrix { data: &weights[rows.start * n + keys.start..], row: n, column: 1 };
        let b = Matrix { data: &values.data[(keys.start - strip.start) * values.row..], ..values };
        gemm([rows.len(), width, keys.len()], a, b, &mut y[rows.start * width..rows.end * width]);
    };
    if n <= sees {
        return product(0..m, 0..n, y);
    }
    // A dot product has to be taken at once: where it is split shows in its bits, and a query has the same ones alone.
    if in_lanes(width, values.row, values.column) {
        return (0..m).for_each(|row| product(row..row + 1, 0..n.min(sees + row), y));
    }
    product(0..m, 0..sees, y);
    for top in (0..m).step_by(STRIP) {
        let rows = top..m.min(top + STRIP);
        product(rows.clone(), sees..n.min(sees + top), y);
        for row in rows {
            product(row..row + 1, n.min(sees + top)..n.min(sees + row), y);
        }
    }
}

wide! {
    /// Rows of `n` products become weights; row `i` sees `sees + i` keys, and of the others it has none.
    fn weights(scores: &mut [f32], n: usize, sees: usize, scale: f32, mask: Option<(&[f32], [usize; 2])>) {
        if n == 0 {
            return;
        }
        for (i, scores) in scores.chunks_exact_mut(n).enumerate() {
            let (seen, _) = scores.split_at_mut(n.min(sees + i));
            match mask {
                None => {
                    for score in seen.iter_mut() {
                        *score *= scale;
                    }
                }
                Some((mask, [down, along])) => {
                    let mask = &mask[i * down..];
                    if along == 1 {
                        for (score, mask) in seen.iter_mut().zip(mask) {
                            *score = *score * scale + mask;
                        }
                    } else {
                        for (j, score) in seen.iter_mut().enumerate() {
                            *score = *score * scale + mask[j * along];
                        }
                    }
                }
            }
            row(seen, false);
        }
    }
}
