//! Elementwise functions of one tensor, strided or packed, in place or not.
//!
//! Halves go through the function of `f32` block by block; integers have one of their own.
//!
//! Every element goes through the same function whichever way it lies, so all paths agree bit for bit. Where a product
//! has a limit at -∞ that the formula would miss as `-∞ * 0` (gelu, silu), the limit, -0, is returned.

use super::nest::Nest;
use super::operands::{Input, Operands, broadcast, operands};
use super::then::{Other, Stage};
use super::typed::{self, Integer, with_half, with_integer};
use super::wide::wide;
use super::{CpuBuffer, Memory, math};
use crate::{Call, DType, Error, Kernel, View, op};

/// A function of one element.
trait Function {
    fn of(&self, x: f32) -> f32;
}

/// A function of rows, so that the walk over strides is compiled once.
trait Rows {
    fn map(&self, x: &[f32], y: &mut [f32]);
    fn map_in_place(&self, y: &mut [f32]);
}

impl<F: Function> Rows for F {
    fn map(&self, x: &[f32], y: &mut [f32]) {
        map_row(self, x, y);
    }

    fn map_in_place(&self, y: &mut [f32]) {
        map_row_in_place(self, y);
    }
}

wide! {
    fn map_row<F: Function>(f: &F, x: &[f32], y: &mut [f32]) {
        for (y, &x) in y.iter_mut().zip(x) {
            *y = f.of(x);
        }
    }

    fn map_row_in_place<F: Function>(f: &F, y: &mut [f32]) {
        for y in y {
            *y = f.of(*y);
        }
    }
}

fn map(rows: &dyn Rows, x_view: &View, y_view: &View, operands: Operands<'_, f32, 1>) {
    let Operands { output, inputs: [input], .. } = operands;
    let y_strides = broadcast(y_view, y_view.dims());
    let x_strides = broadcast(x_view, y_view.dims());
    let nest = Nest::new(y_view.dims(), [&y_strides, &x_strides]);
    let (count, [y_step, x_step]) = nest.row();
    match input {
        Input::Slice(x) if y_step == 1 && x_step == 1 || count == 1 => {
            nest.rows(|[y, from]| rows.map(&x[from..from + count], &mut output[y..y + count]));
        }
        Input::Output if y_step == 1 || count == 1 => nest.rows(|[y, _]| rows.map_in_place(&mut output[y..y + count])),
        _ => nest.rows(|[y, from]| {
            let mut block = [0.0; 64];
            for start in (0..count).step_by(64) {
                let block = &mut block[..(count - start).min(64)];
                match input.slice() {
                    Some(x) => gather(x, from + start * x_step, x_step, block),
                    None => gather(output, y + start * y_step, y_step, block),
                }
                rows.map_in_place(block);
                scatter(block, output, y + start * y_step, y_step);
            }
        }),
    }
}

/// Fills `block` with every `step`-th element from `at` on.
pub(super) fn gather<T: Copy>(from: &[T], at: usize, step: usize, block: &mut [T]) {
    for (index, slot) in block.iter_mut().enumerate() {
        *slot = from[at + index * step];
    }
}

/// Writes `block` to every `step`-th element from `at` on.
pub(super) fn scatter<T: Copy>(block: &[T], to: &mut [T], at: usize, step: usize) {
    for (index, element) in block.iter().enumerate() {
        to[at + index * step] = *element;
    }
}

/// The fixed point of mean 0 and variance 1 (Klambauer et al., arXiv 1706.02515).
const SELU_ALPHA: f32 = 1.673_263_2;
const SELU_SCALE: f32 = 1.050_701;

macro_rules! unary {
    ($( $name:ident, |$op:ident, $x:ident| $value:expr $(, $T:ident => $integer:expr)?; )*) => { $(
        impl Function for op::$name {
            #[inline(always)]
            fn of(&self, $x: f32) -> f32 {
                let $op = self;
                $value
            }
        }

        impl Stage for op::$name {
            const OTHER: bool = false;

            fn apply(&self, y: &mut [f32], _: Other<'_>, _: usize) {
                map_row_in_place(self, y);
            }
        }

        impl<M: Memory> Kernel<op::$name> for CpuBuffer<M> {
            fn run(&mut self, call: &Call<'_, op::$name>) -> Result<(), Error> {
                let bytes = self.memory.bytes_mut();
                let dtype = call.outputs.first().map_or(DType::F32, |output| output.dtype);
                let $op = &call.op;
                $(
                    with_integer!(dtype, $T => {
                        let operands = operands(bytes, call)?;
                        let f = |$x: $T| -> $T { $integer };
                        let rows = |block: &mut [$T]| block.iter_mut().for_each(|element| *element = f(*element));
                        typed::map::<$T>(&rows, &call.inputs[0], &call.outputs[0], operands);
                        return Ok(());
                    }, {});
                )?
                with_half!(dtype, H => {
                    let operands = operands(bytes, call)?;
                    typed::map::<H>(&|block| map_row_in_place($op, block), &call.inputs[0], &call.outputs[0], operands);
                }, {
                    let operands = operands(bytes, call)?;
                    map($op, &call.inputs[0], &call.outputs[0], operands);
                });
                Ok(())
            }
        }
    )* };
}

unary! {
    Neg, |_op, x| -x, T => <T as Integer>::neg(x);
    Relu, |_op, x| if x <= 0.0 { 0.0 } else { x }, T => x.max(T::from_f32(0.0));
    LeakyRelu, |op, x| if x > 0.0 { x } else { op.slope * x };
    Sigmoid, |_op, x| math::sigmoid(x);
    Tanh, |_op, x| math::tanh(x);
    Gelu, |op, x| if op.tanh { math::gelu_tanh(x) } else { math::gelu(x) };
    Silu, |_op, x| math::silu(x);
    Exp, |_op, x| math::exp(x);
    Log, |_op, x| math::log(x);
    Sqrt, |_op, x| math::sqrt(x);
    Abs, |_op, x| x.abs(), T => <T as Integer>::abs(x);
    Round, |_op, x| libm::rintf(x);
    Floor, |_op, x| libm::floorf(x);
    Ceil, |_op, x| libm::ceilf(x);
    Sign, |_op, x| math::sign(x), T => <T as Integer>::sign(x);
    Sin, |_op, x| libm::sinf(x);
    Cos, |_op, x| libm::cosf(x);
    Erf, |_op, x| libm::erff(x);
    Reciprocal, |_op, x| 1.0 / x;
    Clamp, |op, x| math::clamp(x, op.low, op.high), T => x.max(T::from_f32(op.low)).min(T::from_f32(op.high));
    Elu, |op, x| if x > 0.0 { x } else { op.alpha * math::exp_minus_1(x) };
    Selu, |_op, x| SELU_SCALE * if x > 0.0 { x } else { SELU_ALPHA * math::exp_minus_1(x) };
    HardSigmoid, |op, x| math::clamp(op.slope * x + op.offset, 0.0, 1.0);
    HardSwish, |_op, x| math::hard_swish(x);
    Softplus, |_op, x| math::softplus(x);
    Mish, |_op, x| math::mish(x);
}
