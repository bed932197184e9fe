//! Casts between element types: through `f32` from a float, through `i64` from an integer or a truth value, a block of
//! elements at a time. Both hold every value of the types they stand for.

use super::nest::Nest;
use super::operands::{Operands, broadcast, elements_mut, operands};
use super::typed::{self, BLOCK, Element, Integer, with_half, with_integer, with_type};
use super::{CpuBuffer, Memory};
use crate::{Block, BlockQ4_0, BlockQ8_0, Bool, Call, DType, Error, Kernel, View, bf16, f16, op};

impl<M: Memory> Kernel<op::Cast> for CpuBuffer<M> {
    fn run(&mut self, call: &Call<'_, op::Cast>) -> Result<(), Error> {
        let Operands { output, inputs: [input], .. } = operands::<_, u8, 1>(self.memory.bytes_mut(), call)?;
        let (x_view, y_view) = (&call.inputs[0], &call.outputs[0]);
        match x_view.dtype {
            DType::Q8_0 => from_blocks::<BlockQ8_0>(typed::slice(input)?, x_view, output, y_view),
            DType::Q4_0 => from_blocks::<BlockQ4_0>(typed::slice(input)?, x_view, output, y_view),
            _ => {
                with_integer!(x_view.dtype, T => {
                    let load = |block: &mut [i64], x: &[T]| {
                        block.iter_mut().zip(x).for_each(|(wide, x)| *wide = x.to_i64());
                    };
                    return integers::<T>(&load, typed::slice(input)?, x_view, output, y_view);
                }, {});
                with_type!(x_view.dtype, [Bool Bool], B => {
                    let load = |block: &mut [i64], x: &[bool]| {
                        block.iter_mut().zip(x).for_each(|(wide, x)| *wide = i64::from(*x));
                    };
                    return integers::<B>(&load, typed::slice(input)?, x_view, output, y_view);
                }, {});
                with_half!(x_view.dtype, H => {
                    return floats::<H>(typed::slice(input)?, x_view, output, y_view);
                }, {});
                floats::<f32>(typed::slice(input)?, x_view, output, y_view)
            }
        }
    }
}

/// Fills a row from another one.
type Rows<'f, Y, X> = dyn Fn(&mut [Y], &[X]) + 'f;

/// From floats.
fn floats<E: Element<Wide = f32>>(x: &[E], x_view: &View, output: &mut [u8], y_view: &View) -> Result<(), Error> {
    let dtype = y_view.dtype;
    with_integer!(dtype, T => {
        let cast = |y: &mut [T], x: &[f32]| y.iter_mut().zip(x).for_each(|(y, x)| *y = T::from_f32(*x));
        return walk::<E, T>(&cast, x, x_view, elements_mut(output)?, y_view);
    }, {});
    with_type!(dtype, [Bool Bool], B => {
        let cast = |y: &mut [bool], x: &[f32]| y.iter_mut().zip(x).for_each(|(y, x)| *y = *x != 0.0);
        return walk::<E, B>(&cast, x, x_view, elements_mut(output)?, y_view);
    }, {});
    let cast = |y: &mut [f32], x: &[f32]| y.copy_from_slice(x);
    with_half!(dtype, H => return walk::<E, H>(&cast, x, x_view, elements_mut(output)?, y_view), {});
    walk::<E, f32>(&cast, x, x_view, elements_mut(output)?, y_view)
}

/// From integers and truth values, which `load` turns into `i64`.
fn integers<E: Element>(
    load: &Rows<'_, i64, E::Wide>,
    x: &[E],
    x_view: &View,
    output: &mut [u8],
    y_view: &View,
) -> Result<(), Error> {
    let wide = |block: &mut [i64; BLOCK], x: &[E::Wide]| load(&mut block[..x.len()], x);
    let dtype = y_view.dtype;
    macro_rules! cast_to {
        ($T:ty, $wide:ty, |$x:ident| $value:expr) => {{
            let cast = |y: &mut [$wide], x: &[E::Wide]| {
                let mut block = [0; BLOCK];
                wide(&mut block, x);
                y.iter_mut().zip(block).for_each(|(y, $x)| *y = $value);
            };
            return walk::<E, $T>(&cast, x, x_view, elements_mut(output)?, y_view);
        }};
    }
    with_integer!(dtype, T => cast_to!(T, T, |x| T::from_i64(x)), {});
    with_type!(dtype, [Bool Bool], B => cast_to!(B, bool, |x| x != 0), {});
    with_type!(dtype, [F32 f32], F => cast_to!(F, f32, |x| x as f32), {});
    if dtype == DType::F16 { cast_to!(f16, f32, |x| odd(x)) } else { cast_to!(bf16, f32, |x| odd(x)) }
}

/// An integer as `f32`, cut off, with its last bit set where something was: rounding that to a half is rounding the integer
/// itself, where rounding twice would now and then meet a tie that was none.
fn odd(value: i64) -> f32 {
    let size = value.unsigned_abs();
    let shift = (u64::BITS - size.leading_zeros()).saturating_sub(f32::MANTISSA_DIGITS);
    let cut = size >> shift;
    let more = u64::from(cut << shift != size);
    let rounded = ((cut | more) << shift) as f32;
    if value < 0 { -rounded } else { rounded }
}

fn walk<E: Element, Y: Element>(
    cast: &Rows<'_, Y::Wide, E::Wide>,
    x: &[E],
    x_view: &View,
    output: &mut [Y],
    y_view: &View,
) -> Result<(), Error> {
    let dims = y_view.dims();
    let nest = Nest::new(dims, [&broadcast(y_view, dims), &broadcast(x_view, dims)]);
    let (count, [y_step, x_step]) = nest.row();
    nest.rows(|[to, from]| {
        let mut x_block = [E::Wide::default(); BLOCK];
        let mut y_block = [Y::Wide::default(); BLOCK];
        for start in (0..count).step_by(BLOCK) {
            let len = (count - start).min(BLOCK);
            E::load(x, from + start * x_step, x_step, &mut x_block[..len]);
            cast(&mut y_block[..len], &x_block[..len]);
            Y::store(&y_block[..len], output, to + start * y_step, y_step);
        }
    });
    Ok(())
}

/// From blocks, row by row.
fn from_blocks<B: Block>(x: &[B], x_view: &View, output: &mut [u8], y_view: &View) -> Result<(), Error> {
    let (dims, rank) = (x_view.dims(), x_view.rank);
    let columns = dims.last().copied().unwrap_or(1);
    let (outer, step) = match rank {
        0 => (0, 1),
        _ => (rank - 1, y_view.strides[rank - 1]),
    };
    let nest = Nest::new(&dims[..outer], [&y_view.strides()[..outer]]);
    macro_rules! into {
        ($T:ty) => {{
            let y: &mut [$T] = elements_mut(output)?;
            if columns == 0 {
                return Ok(());
            }
            let mut rows = x.chunks_exact(columns.div_ceil(crate::BLOCK));
            nest.each(|[to]| {
                for (index, block) in rows.next().unwrap_or(&[]).iter().enumerate() {
                    let start = index * crate::BLOCK;
                    let weights = block.dequantise();
                    let len = (columns - start).min(crate::BLOCK);
                    <$T>::store(&weights[..len], y, to + start * step, step);
                }
            });
        }};
    }
    match y_view.dtype {
        DType::F16 => into!(f16),
        DType::BF16 => into!(bf16),
        _ => into!(f32),
    }
    Ok(())
}
