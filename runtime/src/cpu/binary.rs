//! Elementwise functions of two tensors with numpy's broadcasting, strided or packed, in place of either or both. Halves
//! go through the function of `f32` block by block; integers have one of their own.

use super::nest::Nest;
use super::operands::{Input, Operands, broadcast, operands};
use super::then::{Other, Stage};
use super::typed::{self, Integer, with_half, with_integer};
use super::unary::{gather, scatter};
use super::wide::wide;
use super::{CpuBuffer, Memory, math};
use crate::{Call, DType, Error, Kernel, View, op};

/// A function of two elements.
trait Function {
    fn of(a: f32, b: f32) -> f32;
}

/// One side of a row.
#[derive(Clone, Copy)]
enum Side<'a> {
    /// As many elements as the output has.
    Row(&'a [f32]),
    /// One element for all.
    One(f32),
    /// The output's own elements, before they are overwritten.
    Output,
}

wide! {
    /// The function over a row, one loop for each way the operands can lie.
    fn row<F: Function>(y: &mut [f32], a: Side<'_>, b: Side<'_>) {
        match (a, b) {
            (Side::Row(a), Side::Row(b)) => {
                for ((y, &a), &b) in y.iter_mut().zip(a).zip(b) {
                    *y = F::of(a, b);
                }
            }
            (Side::Row(a), Side::One(b)) => {
                for (y, &a) in y.iter_mut().zip(a) {
                    *y = F::of(a, b);
                }
            }
            (Side::One(a), Side::Row(b)) => {
                for (y, &b) in y.iter_mut().zip(b) {
                    *y = F::of(a, b);
                }
            }
            (Side::Output, Side::Row(b)) => {
                for (y, &b) in y.iter_mut().zip(b) {
                    *y = F::of(*y, b);
                }
            }
            (Side::Row(a), Side::Output) => {
                for (y, &a) in y.iter_mut().zip(a) {
                    *y = F::of(a, *y);
                }
            }
            (Side::Output, Side::One(b)) => {
                for y in y {
                    *y = F::of(*y, b);
                }
            }
            (Side::One(a), Side::Output) => {
                for y in y {
                    *y = F::of(a, *y);
                }
            }
            (Side::Output, Side::Output) => {
                for y in y {
                    *y = F::of(*y, *y);
                }
            }
            (Side::One(a), Side::One(b)) => y.fill(F::of(a, b)),
        }
    }
}

type Row = fn(&mut [f32], Side<'_>, Side<'_>);

/// Walks the output in rows. Compiled once; `row` is the operator.
fn zip(row: Row, a_view: &View, b_view: &View, y_view: &View, operands: Operands<'_, f32, 2>) {
    let Operands { output, inputs: [a_input, b_input], .. } = operands;
    let dims = y_view.dims();
    let (y, a, b) = (broadcast(y_view, dims), broadcast(a_view, dims), broadcast(b_view, dims));
    let nest = Nest::new(dims, [&y, &a, &b]);
    let (count, [y_step, a_step, b_step]) = nest.row();
    let direct = |input: &Input<'_, f32>, step| matches!(input, Input::Output) || step < 2 || count == 1;
    if (y_step == 1 || count == 1) && direct(&a_input, a_step) && direct(&b_input, b_step) {
        nest.rows(|[y, a, b]| {
            row(&mut output[y..y + count], side(&a_input, a, a_step, count), side(&b_input, b, b_step, count));
        });
        return;
    }
    nest.rows(|[y, a, b]| {
        let mut blocks = [[0.0; 64]; 3];
        let [y_block, a_block, b_block] = &mut blocks;
        for start in (0..count).step_by(64) {
            let len = (count - start).min(64);
            for (input, at, step, block) in [(&a_input, a, a_step, &mut *a_block), (&b_input, b, b_step, &mut *b_block)]
            {
                match input.slice() {
                    Some(slice) => gather(slice, at + start * step, step, &mut block[..len]),
                    None => gather(output, y + start * y_step, y_step, &mut block[..len]),
                }
            }
            row(&mut y_block[..len], Side::Row(&a_block[..len]), Side::Row(&b_block[..len]));
            scatter(&y_block[..len], output, y + start * y_step, y_step);
        }
    });
}

fn side<'a>(input: &Input<'a, f32>, at: usize, step: usize, count: usize) -> Side<'a> {
    match input.slice() {
        None => Side::Output,
        Some(slice) if step == 0 => Side::One(slice[at]),
        Some(slice) => Side::Row(&slice[at..at + count]),
    }
}

macro_rules! binary {
    ($( $name:ident, |$a:ident, $b:ident| $value:expr $(, $T:ident => $integer:expr)?; )*) => { $(
        impl Function for op::$name {
            #[inline(always)]
            fn of($a: f32, $b: f32) -> f32 {
                $value
            }
        }

        impl Stage for op::$name {
            const OTHER: bool = true;

            fn apply(&self, y: &mut [f32], other: Other<'_>, side: usize) {
                let other = match other {
                    Other::Row(row) => Side::Row(row),
                    Other::One(one) => Side::One(one),
                };
                match side {
                    0 => row::<op::$name>(y, Side::Output, other),
                    _ => row::<op::$name>(y, other, Side::Output),
                }
            }
        }

        impl<M: Memory> Kernel<op::$name> for CpuBuffer<M> {
            fn run(&mut self, call: &Call<'_, op::$name>) -> Result<(), Error> {
                let bytes = self.memory.bytes_mut();
                let dtype = call.outputs.first().map_or(DType::F32, |output| output.dtype);
                let views = call.inputs;
                $(
                    with_integer!(dtype, $T => {
                        let operands = operands(bytes, call)?;
                        typed::zip::<$T>(&integers($integer), [&views[0], &views[1]], &call.outputs[0], operands);
                        return Ok(());
                    }, {});
                )?
                with_half!(dtype, H => {
                    let operands = operands(bytes, call)?;
                    let rows = |y: &mut [f32], a: &[f32], b: &[f32]| row::<op::$name>(y, Side::Row(a), Side::Row(b));
                    typed::zip::<H>(&rows, [&views[0], &views[1]], &call.outputs[0], operands);
                }, {
                    let operands = operands(bytes, call)?;
                    zip(row::<op::$name>, &views[0], &views[1], &call.outputs[0], operands);
                });
                Ok(())
            }
        }
    )* };
}

/// A function of integers as one of rows.
fn integers<T: Integer>(f: fn(T, T) -> T) -> impl Fn(&mut [T], &[T], &[T]) {
    move |y, a, b| {
        for ((y, &a), &b) in y.iter_mut().zip(a).zip(b) {
            *y = f(a, b);
        }
    }
}

binary! {
    Add, |a, b| a + b, T => <T as Integer>::add;
    Sub, |a, b| a - b, T => <T as Integer>::sub;
    Mul, |a, b| a * b, T => <T as Integer>::mul;
    Div, |a, b| a / b, T => <T as Integer>::div;
    Maximum, |a, b| if a > b || a.is_nan() { a } else { b }, T => <T as Ord>::max;
    Minimum, |a, b| if a < b || a.is_nan() { a } else { b }, T => <T as Ord>::min;
    Prelu, |a, b| if a > 0.0 { a } else { a * b };
    Pow, |a, b| libm::powf(a, b);
    Rem, |a, b| libm::fmodf(a, b), T => <T as Integer>::rem;
    Modulo, |a, b| math::modulo(a, b), T => T::modulo;
}
