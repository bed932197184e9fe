//! Comparisons, logic, and the choice between two tensors, strided or packed, with numpy's broadcasting.

use bytemuck::Pod;

use super::nest::Nest;
use super::operands::{Operands, broadcast, elements_mut, operands};
use super::typed::{self, Element, with_integer, with_type};
use super::{CpuBuffer, Memory};
use crate::{Bool, Call, DType, Error, Kernel, bf16, f16, op};

/// `$body` for every element type.
macro_rules! with_any {
    ($dtype:expr, $T:ident => $body:expr) => {
        with_type!(
            $dtype,
            [F16 f16, BF16 bf16, I8 i8, U8 u8, I32 i32, U32 u32, I64 i64, Bool Bool],
            $T => $body,
            {
                type $T = f32;
                $body
            }
        )
    };
}

macro_rules! compare {
    ($( $name:ident, |$a:ident, $b:ident| $value:expr; )*) => { $(
        impl<M: Memory> Kernel<op::$name> for CpuBuffer<M> {
            fn run(&mut self, call: &Call<'_, op::$name>) -> Result<(), Error> {
                let bytes = self.memory.bytes_mut();
                let dtype = call.inputs.first().map_or(DType::F32, |input| input.dtype);
                with_any!(dtype, T => {
                    type W = <T as Element>::Wide;
                    let rows = |y: &mut [bool], a: &[W], b: &[W]| {
                        for ((y, $a), $b) in y.iter_mut().zip(a).zip(b) {
                            *y = $value;
                        }
                    };
                    let Operands { output, inputs, .. } = operands::<_, u8, 2>(bytes, call)?;
                    let sides = [typed::slice::<T>(inputs[0])?, typed::slice::<T>(inputs[1])?];
                    let views = [&call.inputs[0], &call.inputs[1]];
                    typed::zip_into::<T, Bool>(&rows, sides, views, elements_mut(output)?, &call.outputs[0]);
                });
                Ok(())
            }
        }
    )* };
}

compare! {
    Equal, |a, b| a == b;
    NotEqual, |a, b| a != b;
    Less, |a, b| a < b;
    LessEqual, |a, b| a <= b;
    Greater, |a, b| a > b;
    GreaterEqual, |a, b| a >= b;
}

macro_rules! test {
    ($( $name:ident, |$x:ident| $value:expr; )*) => { $(
        impl<M: Memory> Kernel<op::$name> for CpuBuffer<M> {
            fn run(&mut self, call: &Call<'_, op::$name>) -> Result<(), Error> {
                let bytes = self.memory.bytes_mut();
                let dtype = call.inputs.first().map_or(DType::F32, |input| input.dtype);
                let rows = |y: &mut [bool], x: &[f32], _: &[f32]| {
                    for (y, $x) in y.iter_mut().zip(x) {
                        *y = $value;
                    }
                };
                with_type!(dtype, [F32 f32, F16 f16, BF16 bf16], T => {
                    let Operands { output, inputs: [x], .. } = operands::<_, u8, 1>(bytes, call)?;
                    let (x, view) = (typed::slice::<T>(x)?, &call.inputs[0]);
                    let output: &mut [Bool] = elements_mut(output)?;
                    typed::zip_into::<T, Bool>(&rows, [x, x], [view, view], output, &call.outputs[0]);
                }, operands::<_, u8, 1>(bytes, call).map(|_| ())?);
                Ok(())
            }
        }
    )* };
}

test! {
    IsNan, |x| x.is_nan();
    IsInf, |x| x.is_infinite();
}

macro_rules! logic {
    ($( $name:ident, |$a:ident, $b:ident| $value:expr; )*) => { $(
        impl<M: Memory> Kernel<op::$name> for CpuBuffer<M> {
            fn run(&mut self, call: &Call<'_, op::$name>) -> Result<(), Error> {
                let bytes = self.memory.bytes_mut();
                let dtype = call.inputs.first().map_or(DType::Bool, |input| input.dtype);
                with_integer!(dtype, T => {
                    let rows = |y: &mut [T], a: &[T], b: &[T]| {
                        for ((y, $a), $b) in y.iter_mut().zip(a).zip(b) {
                            *y = $value;
                        }
                    };
                    let operands = operands(bytes, call)?;
                    let views = [&call.inputs[0], &call.inputs[1]];
                    typed::zip::<T>(&rows, views, &call.outputs[0], operands);
                    return Ok(());
                }, {});
                let rows = |y: &mut [bool], a: &[bool], b: &[bool]| {
                    for ((y, $a), $b) in y.iter_mut().zip(a).zip(b) {
                        *y = $value;
                    }
                };
                let operands = operands(bytes, call)?;
                let views = [&call.inputs[0], &call.inputs[1]];
                typed::zip::<Bool>(&rows, views, &call.outputs[0], operands);
                Ok(())
            }
        }
    )* };
}

logic! {
    And, |a, b| a & b;
    Or, |a, b| a | b;
    Xor, |a, b| a ^ b;
}

impl<M: Memory> Kernel<op::Not> for CpuBuffer<M> {
    fn run(&mut self, call: &Call<'_, op::Not>) -> Result<(), Error> {
        let bytes = self.memory.bytes_mut();
        let dtype = call.inputs.first().map_or(DType::Bool, |input| input.dtype);
        with_integer!(dtype, T => {
            let operands = operands(bytes, call)?;
            let rows = |block: &mut [T]| block.iter_mut().for_each(|element| *element = !*element);
            typed::map::<T>(&rows, &call.inputs[0], &call.outputs[0], operands);
            return Ok(());
        }, {});
        let operands = operands(bytes, call)?;
        let rows = |block: &mut [bool]| block.iter_mut().for_each(|element| *element = !*element);
        typed::map::<Bool>(&rows, &call.inputs[0], &call.outputs[0], operands);
        Ok(())
    }
}

impl<M: Memory> Kernel<op::Where> for CpuBuffer<M> {
    fn run(&mut self, call: &Call<'_, op::Where>) -> Result<(), Error> {
        let bytes = self.memory.bytes_mut();
        // Elements are moved and not looked at, so that their size is all that matters.
        match call.outputs.first().map_or(4, |output| output.dtype.size()) {
            1 => choose::<u8>(bytes, call),
            2 => choose::<u16>(bytes, call),
            4 => choose::<u32>(bytes, call),
            _ => choose::<u64>(bytes, call),
        }
    }
}

fn choose<T: Pod>(bytes: &mut [u8], call: &Call<'_, op::Where>) -> Result<(), Error> {
    let Operands { output, inputs: [condition, a, b], .. } = operands::<_, u8, 3>(bytes, call)?;
    let output: &mut [T] = elements_mut(output)?;
    let condition: &[Bool] = typed::slice(condition)?;
    let (a, b) = (a.of::<T>()?, b.of::<T>()?);
    let y_view = &call.outputs[0];
    let dims = y_view.dims();
    let strides = |input: usize| broadcast(&call.inputs[input], dims);
    let nest = Nest::new(dims, [&broadcast(y_view, dims), &strides(0), &strides(1), &strides(2)]);
    nest.each(|[y, c, a_at, b_at]| {
        let (side, at) = if condition[c].get() { (a, a_at) } else { (b, b_at) };
        if let Some(side) = side.slice() {
            output[y] = side[at];
        }
    });
    Ok(())
}
