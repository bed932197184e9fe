//! Kernels for every element type beside `f32`: elements are loaded a block at a time into the type that they are computed
//! in, halves into `f32`, integers into themselves.

use bytemuck::Pod;
use half::slice::HalfFloatSliceExt;

use super::nest::Nest;
use super::operands::{Input, Operands, broadcast};
use super::unary::{gather, scatter};
use crate::{Bool, View, bf16, f16};

/// Elements in a block.
pub(super) const BLOCK: usize = 64;

/// An element of a tensor.
pub(super) trait Element: Pod {
    /// What it is computed in.
    type Wide: Copy + Default + PartialOrd;

    /// Fills `block` with every `step`-th element from `at` on.
    fn load(from: &[Self], at: usize, step: usize, block: &mut [Self::Wide]);

    /// Writes `block` to every `step`-th element from `at` on.
    fn store(block: &[Self::Wide], to: &mut [Self], at: usize, step: usize);
}

macro_rules! themselves {
    ($($ty:ty)*) => { $(
        impl Element for $ty {
            type Wide = $ty;

            fn load(from: &[$ty], at: usize, step: usize, block: &mut [$ty]) {
                gather(from, at, step, block);
            }

            fn store(block: &[$ty], to: &mut [$ty], at: usize, step: usize) {
                scatter(block, to, at, step);
            }
        }
    )* };
}
themselves! { f32 i8 u8 i32 u32 i64 }

macro_rules! halves {
    ($($ty:ty)*) => { $(
        impl Element for $ty {
            type Wide = f32;

            fn load(from: &[$ty], at: usize, step: usize, block: &mut [f32]) {
                if step == 1 {
                    from[at..at + block.len()].convert_to_f32_slice(block);
                } else {
                    for (index, slot) in block.iter_mut().enumerate() {
                        *slot = from[at + index * step].to_f32();
                    }
                }
            }

            fn store(block: &[f32], to: &mut [$ty], at: usize, step: usize) {
                if step == 1 {
                    to[at..at + block.len()].convert_from_f32_slice(block);
                } else {
                    for (index, element) in block.iter().enumerate() {
                        to[at + index * step] = <$ty>::from_f32(*element);
                    }
                }
            }
        }
    )* };
}
halves! { f16 bf16 }

impl Element for Bool {
    type Wide = bool;

    fn load(from: &[Bool], at: usize, step: usize, block: &mut [bool]) {
        for (index, slot) in block.iter_mut().enumerate() {
            *slot = from[at + index * step].get();
        }
    }

    fn store(block: &[bool], to: &mut [Bool], at: usize, step: usize) {
        for (index, element) in block.iter().enumerate() {
            to[at + index * step] = Bool::from(*element);
        }
    }
}

/// What is computed with integers: everything wraps, and a division by 0 gives 0.
pub(super) trait Integer: Element<Wide = Self> + Ord {
    const ZERO: Self;
    fn add(self, other: Self) -> Self;
    fn sub(self, other: Self) -> Self;
    fn mul(self, other: Self) -> Self;
    fn div(self, other: Self) -> Self;
    fn rem(self, other: Self) -> Self;
    fn modulo(self, other: Self) -> Self;
    fn neg(self) -> Self;
    fn abs(self) -> Self;
    fn sign(self) -> Self;
    fn from_f32(value: f32) -> Self;
    fn from_i64(value: i64) -> Self;
    fn to_i64(self) -> i64;
}

macro_rules! integers {
    ($($ty:ident, |$x:ident| $abs:expr, $sign:expr;)*) => { $(
        impl Integer for $ty {
            const ZERO: $ty = 0;

            fn add(self, other: $ty) -> $ty {
                self.wrapping_add(other)
            }

            fn sub(self, other: $ty) -> $ty {
                self.wrapping_sub(other)
            }

            fn mul(self, other: $ty) -> $ty {
                self.wrapping_mul(other)
            }

            fn div(self, other: $ty) -> $ty {
                if other == 0 { 0 } else { self.wrapping_div(other) }
            }

            fn rem(self, other: $ty) -> $ty {
                if other == 0 { 0 } else { self.wrapping_rem(other) }
            }

            #[allow(unused_comparisons, reason = "half of the types have no sign")]
            fn modulo(self, other: $ty) -> $ty {
                let left = self.rem(other);
                if left != 0 && (left < 0) != (other < 0) { left.wrapping_add(other) } else { left }
            }

            fn neg(self) -> $ty {
                self.wrapping_neg()
            }

            fn abs(self) -> $ty {
                let $x = self;
                $abs
            }

            fn sign(self) -> $ty {
                let $x = self;
                $sign
            }

            fn from_f32(value: f32) -> $ty {
                value as $ty
            }

            fn from_i64(value: i64) -> $ty {
                value as $ty
            }

            fn to_i64(self) -> i64 {
                self as i64
            }
        }
    )* };
}
integers! {
    i8, |x| x.wrapping_abs(), x.signum();
    u8, |x| x, x.min(1);
    i32, |x| x.wrapping_abs(), x.signum();
    u32, |x| x, x.min(1);
    i64, |x| x.wrapping_abs(), x.signum();
}

/// `$body` with `$T` as the Rust type of an element type that is listed; `$other` for any other.
macro_rules! with_type {
    ($dtype:expr, [$($variant:ident $ty:ty),*], $T:ident => $body:expr, $other:expr) => {
        match $dtype {
            $( $crate::DType::$variant => {
                type $T = $ty;
                $body
            } )*
            _ => $other,
        }
    };
}
pub(super) use with_type;

/// [`with_type`] for integers.
macro_rules! with_integer {
    ($dtype:expr, $T:ident => $body:expr, $other:expr) => {
        $crate::cpu::typed::with_type!($dtype, [I8 i8, U8 u8, I32 i32, U32 u32, I64 i64], $T => $body, $other)
    };
}
pub(super) use with_integer;

/// [`with_type`] for halves.
macro_rules! with_half {
    ($dtype:expr, $T:ident => $body:expr, $other:expr) => {
        $crate::cpu::typed::with_type!($dtype, [F16 $crate::f16, BF16 $crate::bf16], $T => $body, $other)
    };
}
pub(super) use with_half;

/// `y = f(x)`, strided or packed, in place or not. `f` works on a block in place.
pub(super) fn map<E: Element>(f: &dyn Fn(&mut [E::Wide]), x_view: &View, y_view: &View, operands: Operands<'_, E, 1>) {
    let Operands { output, inputs: [input], .. } = operands;
    let dims = y_view.dims();
    let nest = Nest::new(dims, [&broadcast(y_view, dims), &broadcast(x_view, dims)]);
    let (count, [y_step, x_step]) = nest.row();
    nest.rows(|[y, x]| {
        let mut block = [E::Wide::default(); BLOCK];
        for start in (0..count).step_by(BLOCK) {
            let block = &mut block[..(count - start).min(BLOCK)];
            match input.slice() {
                Some(slice) => E::load(slice, x + start * x_step, x_step, block),
                None => E::load(output, y + start * y_step, y_step, block),
            }
            f(block);
            E::store(block, output, y + start * y_step, y_step);
        }
    });
}

/// A function of two rows into a third.
pub(super) type Row<W, Y> = dyn Fn(&mut [Y], &[W], &[W]);

/// `y = f(a, b)`, strided or packed, in place of either or both.
pub(super) fn zip<E: Element>(
    f: &Row<E::Wide, E::Wide>,
    [a_view, b_view]: [&View; 2],
    y_view: &View,
    operands: Operands<'_, E, 2>,
) {
    let Operands { output, inputs: [a_input, b_input], .. } = operands;
    let dims = y_view.dims();
    let nest = Nest::new(dims, [&broadcast(y_view, dims), &broadcast(a_view, dims), &broadcast(b_view, dims)]);
    let (count, [y_step, a_step, b_step]) = nest.row();
    nest.rows(|[y, a, b]| {
        let mut blocks = [[E::Wide::default(); BLOCK]; 3];
        let [y_block, a_block, b_block] = &mut blocks;
        for start in (0..count).step_by(BLOCK) {
            let len = (count - start).min(BLOCK);
            let sides = [(&a_input, a, a_step, &mut *a_block), (&b_input, b, b_step, &mut *b_block)];
            for (input, at, step, block) in sides {
                match input.slice() {
                    Some(slice) => E::load(slice, at + start * step, step, &mut block[..len]),
                    None => E::load(output, y + start * y_step, y_step, &mut block[..len]),
                }
            }
            f(&mut y_block[..len], &a_block[..len], &b_block[..len]);
            E::store(&y_block[..len], output, y + start * y_step, y_step);
        }
    });
}

/// `y = f(a, b)` into elements of another type, so never in place.
pub(super) fn zip_into<E: Element, Y: Element>(
    f: &Row<E::Wide, Y::Wide>,
    [a, b]: [&[E]; 2],
    [a_view, b_view]: [&View; 2],
    output: &mut [Y],
    y_view: &View,
) {
    let dims = y_view.dims();
    let nest = Nest::new(dims, [&broadcast(y_view, dims), &broadcast(a_view, dims), &broadcast(b_view, dims)]);
    let (count, [y_step, a_step, b_step]) = nest.row();
    nest.rows(|[y_at, a_at, b_at]| {
        let mut blocks = [[E::Wide::default(); BLOCK]; 2];
        let mut y_block = [Y::Wide::default(); BLOCK];
        let [a_block, b_block] = &mut blocks;
        for start in (0..count).step_by(BLOCK) {
            let len = (count - start).min(BLOCK);
            E::load(a, a_at + start * a_step, a_step, &mut a_block[..len]);
            E::load(b, b_at + start * b_step, b_step, &mut b_block[..len]);
            f(&mut y_block[..len], &a_block[..len], &b_block[..len]);
            Y::store(&y_block[..len], output, y_at + start * y_step, y_step);
        }
    });
}

/// An operand's elements, if it is neither left out nor the output.
pub(super) fn slice<'a, E: Pod>(input: Input<'a, u8>) -> Result<&'a [E], crate::Error> {
    Ok(input.of::<E>()?.slice().unwrap_or(&[]))
}
