//! Sums, products, means and extrema over any axes of a strided tensor, those of `f32` in the order of additions of
//! [`super::sum`]. Sums and products of integers wrap, so that their order is no matter.

use super::nest::Nest;
use super::operands::{Operands, operands};
use super::sum::{Add, BLOCK, Fold, LANES, Largest, Sizes, Smallest, Squares, Times, fold, fold_block, largest, sum};
use super::typed::{Element, Integer, with_integer, with_type};
use super::wide::wide;
use super::{CpuBuffer, Memory, math};
use crate::{Bool, Call, DType, Error, Kernel, MAX_RANK, View, op};

macro_rules! reduce {
    ($(
        $name:ident, $fold:ident, |$total:ident, $count:ident| $value:expr
        $(, $T:ident => ($start:expr, $join:expr))? $(, bool ($truth:expr, $both:expr))?;
    )*) => { $(
        impl<M: Memory> Kernel<op::$name> for CpuBuffer<M> {
            fn run(&mut self, call: &Call<'_, op::$name>) -> Result<(), Error> {
                let bytes = self.memory.bytes_mut();
                let _dtype = call.outputs.first().map_or(DType::F32, |output| output.dtype);
                $( with_integer!(_dtype, $T => {
                    let operands = operands(bytes, call)?;
                    plain::<$T>(operands, &call.inputs[0], &call.op.axes, $start, $join);
                    return Ok(());
                }, {}); )?
                $( with_type!(_dtype, [Bool Bool], B => {
                    let operands = operands(bytes, call)?;
                    plain::<B>(operands, &call.inputs[0], &call.op.axes, $truth, $both);
                    return Ok(());
                }, {}); )?
                let operands = operands(bytes, call)?;
                reduce::<$fold>(operands, &call.inputs[0], &call.op.axes, |$total, $count| $value);
                Ok(())
            }
        }
    )* };
}

reduce! {
    Sum, Add, |total, _count| total as f32, T => (0, <T as Integer>::add);
    Mean, Add, |total, count| (total / count as f64) as f32;
    Max, Largest, |total, _count| total as f32, T => (T::MIN, <T as Ord>::max), bool (false, |a, b| a | b);
    Min, Smallest, |total, _count| total as f32, T => (T::MAX, <T as Ord>::min), bool (true, |a, b| a & b);
    Prod, Times, |total, _count| total as f32, T => (1, <T as Integer>::mul);
    SumSquare, Squares, |total, _count| total as f32;
    L1, Sizes, |total, _count| total as f32;
    L2, Squares, |total, _count| libm::sqrt(total) as f32;
    LogSum, Add, |total, _count| libm::log(total) as f32;
}

/// One element after the other, for element types in which the order is no matter.
fn plain<E: Element>(
    operands: Operands<'_, E, 1>,
    view: &View,
    axes: &[bool; MAX_RANK],
    start: E::Wide,
    join: fn(E::Wide, E::Wide) -> E::Wide,
) {
    let Operands { output, inputs: [input], .. } = operands;
    let Some(x) = input.slice() else { return };
    let (mut kept, mut reduced) = (view.dims, view.dims);
    for (axis, &marked) in axes.iter().enumerate() {
        *(if marked { &mut kept[axis] } else { &mut reduced[axis] }) = 1;
    }
    let outer = Nest::new(&kept[..view.rank], [view.strides()]);
    let inner = Nest::new(&reduced[..view.rank], [view.strides()]);
    let mut put = 0;
    outer.each(|[at]| {
        let mut total = start;
        let mut element = [start];
        inner.each(|[from]| {
            E::load(x, at + from, 1, &mut element);
            total = join(total, element[0]);
        });
        E::store(&[total], output, put, 1);
        put += 1;
    });
}

impl<M: Memory> Kernel<op::LogSumExp> for CpuBuffer<M> {
    fn run(&mut self, call: &Call<'_, op::LogSumExp>) -> Result<(), Error> {
        let operands = operands(self.memory.bytes_mut(), call)?;
        log_sum_exp(operands, &call.inputs[0], &call.op.axes);
        Ok(())
    }
}

wide! {
    /// `m + ln Σ exp(x - m)` with `m` the largest of the elements, block by block; where the largest is
    /// infinite or there is none, it is the result.
    fn log_sum_exp(operands: Operands<'_, f32, 1>, view: &View, axes: &[bool; MAX_RANK]) {
        let Operands { output, inputs: [input], .. } = operands;
        let Some(x) = input.slice() else { return };
        let (mut kept, mut reduced) = (view.dims, view.dims);
        for (axis, &marked) in axes.iter().enumerate() {
            *(if marked { &mut kept[axis] } else { &mut reduced[axis] }) = 1;
        }
        let outer = Nest::new(&kept[..view.rank], [view.strides()]);
        let inner = Nest::new(&reduced[..view.rank], [view.strides()]);
        let mut outputs = output.iter_mut();
        outer.each(|[at]| {
            let mut most = f32::NEG_INFINITY;
            blocks(x, at, &inner, |block| most = Largest::join(most, largest(block)));
            let mut total = 0.0;
            if most.is_finite() {
                blocks(x, at, &inner, |block| {
                    for x in block.iter_mut() {
                        *x = math::exp(*x - most);
                    }
                    total += sum(block);
                });
                most = (f64::from(most) + libm::log(total)) as f32;
            }
            if let Some(y) = outputs.next() {
                *y = most;
            }
        });
    }
}

/// Columns that are handled side by side.
const COLUMNS: usize = 32;

wide! {
    pub(super) fn reduce<F: Fold>(
        operands: Operands<'_, f32, 1>,
        view: &View,
        axes: &[bool; MAX_RANK],
        finish: fn(f64, usize) -> f32,
    ) {
        let Operands { output, inputs: [input], .. } = operands;
        let Some(x) = input.slice() else { return };
        let (mut kept, mut reduced) = (view.dims, view.dims);
        for (axis, &marked) in axes.iter().enumerate() {
            *(if marked { &mut kept[axis] } else { &mut reduced[axis] }) = 1;
        }
        let (kept, reduced) = (&kept[..view.rank], &reduced[..view.rank]);
        let count: usize = reduced.iter().product();
        let outer = Nest::new(kept, [view.strides()]);
        let inner = Nest::new(reduced, [view.strides()]);
        let (width, [step]) = outer.row();
        let (run, [along]) = inner.row();
        let mut outputs = output.iter_mut();
        let mut put = |total| {
            if let Some(y) = outputs.next() {
                *y = finish(total, count);
            }
        };
        if count == 0 {
            outer.each(|_| put(f64::from(F::START)));
        } else if along == 1 || run == 1 || width == 1 {
            outer.each(|[at]| {
                put(if run == count && along == 1 { fold::<F>(&x[at..at + run], F::of) } else { one::<F>(x, at, &inner) });
            });
        } else {
            outer.rows(|[at]| {
                for start in (0..width).step_by(COLUMNS) {
                    let columns = (width - start).min(COLUMNS);
                    let totals = side_by_side::<F>(x, at + start * step, step, columns, &inner);
                    totals[..columns].iter().for_each(|total| put(*total));
                }
            });
        }
    }
}

/// One output whose elements do not lie side by side: they are gathered block by block.
#[inline(always)]
fn one<F: Fold>(x: &[f32], at: usize, inner: &Nest<1>) -> f64 {
    let mut total = f64::from(F::START);
    blocks(x, at, inner, |block| total = F::join_blocks(total, fold_block::<F>(block, F::of)));
    total
}

/// Calls `body` with copies of the elements of one output, [`BLOCK`] of them at a time, whichever way they lie.
#[inline(always)]
fn blocks(x: &[f32], at: usize, inner: &Nest<1>, mut body: impl FnMut(&mut [f32])) {
    let mut block = [0.0; BLOCK];
    let mut filled = 0;
    let (run, [step]) = inner.row();
    inner.rows(|[from]| {
        let mut done = 0;
        while done < run {
            let part = (run - done).min(BLOCK - filled);
            let start = at + from + done * step;
            if step == 1 {
                block[filled..filled + part].copy_from_slice(&x[start..start + part]);
            } else {
                super::unary::gather(x, start, step, &mut block[filled..filled + part]);
            }
            filled += part;
            done += part;
            if filled == BLOCK {
                body(&mut block);
                filled = 0;
            }
        }
    });
    if filled > 0 {
        body(&mut block[..filled]);
    }
}

/// Up to [`COLUMNS`] outputs at once, `step` apart in the input.
#[inline(always)]
fn side_by_side<F: Fold>(x: &[f32], at: usize, step: usize, columns: usize, inner: &Nest<1>) -> [f64; COLUMNS] {
    let mut totals = [f64::from(F::START); COLUMNS];
    let mut lanes = [[F::START; COLUMNS]; LANES];
    let mut filled = 0;
    // The tree of `join_lanes`, for all columns at once.
    let mut flush = |lanes: &mut [[f32; COLUMNS]; LANES]| {
        let mut width = LANES / 2;
        while width > 0 {
            let (low, high) = lanes.split_at_mut(width);
            for (low, high) in low.iter_mut().zip(high) {
                for (low, high) in low.iter_mut().zip(high) {
                    *low = F::join(*low, *high);
                }
            }
            width /= 2;
        }
        for (total, &lane) in totals.iter_mut().zip(&lanes[0]) {
            *total = F::join_blocks(*total, lane);
        }
        *lanes = [[F::START; COLUMNS]; LANES];
    };
    let (run, [along]) = inner.row();
    inner.rows(|[from]| {
        for index in 0..run {
            let from = &x[at + from + index * along..];
            let lane = &mut lanes[filled % LANES];
            match from.first_chunk::<COLUMNS>() {
                Some(from) if step == 1 && columns == COLUMNS => {
                    for (lane, &x) in lane.iter_mut().zip(from) {
                        *lane = F::join(*lane, F::of(x));
                    }
                }
                _ => {
                    for (column, lane) in lane[..columns].iter_mut().enumerate() {
                        *lane = F::join(*lane, F::of(from[column * step]));
                    }
                }
            }
            filled += 1;
            if filled == BLOCK {
                flush(&mut lanes);
                filled = 0;
            }
        }
    });
    if filled > 0 {
        flush(&mut lanes);
    }
    totals
}
