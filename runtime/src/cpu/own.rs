//! What a kernel of an operator that a user's crate declares is given: its operands as slices, held against the
//! operator's rule before anything is written. It knows rules and no operator.

use bytemuck::Pod;
use model_graph_planner::op::{MAX_OPERANDS, Own};
use model_graph_planner::{MAX_RANK, Type};

use super::operands::{self as carving, carve, elements, elements_mut, length, packed_unless, shapes, type_of};
use crate::{BlockQ4_0, BlockQ8_0, Bool, Call, DType, Error, ErrorKind, HostBuffer, View, bf16, f16};

/// The operands of one step, `N` inputs among them.
#[derive(Debug)]
pub struct Operands<'a, const N: usize> {
    /// What the kernel writes, every element of it.
    pub output: Output<'a>,
    /// The operands, in the order in which they are declared.
    pub inputs: [Input<'a>; N],
    /// What the kernel works in.
    pub scratch: Scratch<'a>,
}

/// The elements that a kernel writes.
#[derive(Debug)]
pub struct Output<'a> {
    bytes: &'a mut [u8],
    dtype: DType,
}

/// An operand that a kernel reads.
#[derive(Clone, Copy, Debug)]
pub struct Input<'a> {
    place: carving::Input<'a, u8>,
    dtype: DType,
    op: &'static str,
}

/// As many bytes as the operator declares, to work in. They hold anything.
#[derive(Debug)]
pub struct Scratch<'a> {
    bytes: &'a mut [u8],
}

/// A Rust type that is a tensor's element, or a block of them.
pub trait Element: Pod {
    /// Its name in the language.
    const DTYPE: DType;
}

macro_rules! elements {
    ($($element:ty, $dtype:ident;)*) => { $(
        impl Element for $element {
            const DTYPE: DType = DType::$dtype;
        }
    )* };
}
elements! {
    f32, F32;
    i8, I8;
    u8, U8;
    i32, I32;
    u32, U32;
    i64, I64;
    f16, F16;
    bf16, BF16;
    Bool, Bool;
    BlockQ8_0, Q8_0;
    BlockQ4_0, Q4_0;
}

/// Holds a call against the rule of its operator, one that `#[operator]` declares, and gives its operands as slices.
///
/// Element `[i, j, …]` of an operand is `slice[i * strides[0] + j * strides[1] + …]`, with the strides of its view in the
/// call; that of one which is not declared `strided` lies where [`positions`] counts from 0 without gaps.
///
/// Weights in blocks ([`BlockQ8_0`], [`BlockQ4_0`]) have no strides: they are always packed, and a slice of them has
/// `ceil(K / 32)` blocks for each row of `K` elements, one row after the other, with the last block of a row filled up. Only
/// their extents count in elements.
///
/// # Errors
/// [`ErrorKind::Length`] when the operands are not what the rule takes; [`ErrorKind::OutOfRange`],
/// [`ErrorKind::Overlap`]. A checked plan leads to none of them. Nothing was written.
pub fn operands<'a, B: HostBuffer, O: Own, const N: usize>(
    buffer: &'a mut B,
    call: &Call<'a, O>,
) -> Result<Operands<'a, N>, Error> {
    const { assert!(N == O::RULE.operands.len(), "the kernel takes as many inputs as its operator has operands") };
    let rule = O::RULE;
    let op = rule.spec.name;
    let (output, types) = shapes(rule.spec.takes().0, call.inputs, call.outputs, N)?;
    let types: &[Type] = &types[..call.inputs.len()];
    let size = |setting| call.op.size(setting);
    match rule.infer(&size, types) {
        Ok(inferred) if inferred == type_of(output)? => {}
        Ok(inferred) => return Err(length(inferred.shape.elements().unwrap_or(usize::MAX), output.elements())),
        Err(_) => return Err(length(output.elements(), call.inputs.first().map_or(0, View::elements))),
    }
    for (input, view) in call.inputs.iter().enumerate() {
        packed_unless(rule.strided.contains(&input), view)?;
    }
    packed_unless(rule.strided_output, output)?;
    let mut in_place = [false; MAX_OPERANDS];
    rule.in_place.iter().for_each(|input| in_place[*input] = true);
    let carved =
        carve::<u8, N>((buffer.bytes_mut(), call.shared), op, output, call.inputs, &in_place, call.scratch.first())?;
    let needed = rule.scratch(&size, types).unwrap_or(0);
    let given = carved.scratch.len();
    let scratch = carved.scratch.get_mut(..needed).ok_or(length(needed, given))?;
    let inputs = core::array::from_fn(|input| Input {
        place: carved.inputs[input],
        dtype: call.inputs.get(input).map_or(DType::U8, |view| view.dtype),
        op,
    });
    Ok(Operands {
        output: Output { bytes: carved.output, dtype: output.dtype },
        inputs,
        scratch: Scratch { bytes: scratch },
    })
}

impl<'a> Output<'a> {
    /// The elements, from the first to the last, with whatever lies between them.
    ///
    /// # Errors
    /// [`ErrorKind::Element`] when they are of another type.
    pub fn of<T: Element>(self) -> Result<&'a mut [T], Error> {
        same::<T>(self.dtype)?;
        elements_mut(self.bytes)
    }
}

impl<'a> Input<'a> {
    /// False for an optional operand that was left out.
    pub fn is_given(&self) -> bool {
        !matches!(self.place, carving::Input::Absent)
    }

    /// True when its elements are the output's own, in the same places: the kernel works in place. So can be only what is
    /// declared `in_place`.
    pub fn is_output(&self) -> bool {
        matches!(self.place, carving::Input::Output)
    }

    /// The elements of an operand that is neither optional nor declared `in_place`.
    ///
    /// # Errors
    /// [`ErrorKind::Element`] when they are of another type, [`ErrorKind::InPlace`] when they are the output's,
    /// [`ErrorKind::Length`] when the operand was left out.
    pub fn of<T: Element>(&self) -> Result<&'a [T], Error> {
        match self.get()? {
            Some(slice) => Ok(slice),
            None if self.is_output() => Err(ErrorKind::InPlace { op: self.op }.into()),
            None => Err(length(1, 0)),
        }
    }

    /// The elements, or nothing when they are the output's own or the operand was left out.
    ///
    /// # Errors
    /// [`ErrorKind::Element`] when they are of another type.
    pub fn get<T: Element>(&self) -> Result<Option<&'a [T]>, Error> {
        match self.place {
            carving::Input::Absent => Ok(None),
            carving::Input::Output => same::<T>(self.dtype).map(|()| None),
            carving::Input::Slice(bytes) => {
                same::<T>(self.dtype)?;
                elements(bytes).map(Some)
            }
        }
    }
}

impl<'a> Scratch<'a> {
    /// All of it as numbers, as many as fit.
    ///
    /// # Errors
    /// [`ErrorKind::Misaligned`] when it does not start where such a number can.
    pub fn of<T: Pod>(self) -> Result<&'a mut [T], Error> {
        let count = self.bytes.len().checked_div(size_of::<T>()).unwrap_or(0);
        Ok(self.split(count)?.0)
    }

    /// The first `count` numbers of it, and the rest.
    ///
    /// # Errors
    /// [`ErrorKind::Misaligned`] when it does not start where such a number can, [`ErrorKind::Length`] when it is too
    /// small.
    pub fn split<T: Pod>(self, count: usize) -> Result<(&'a mut [T], Scratch<'a>), Error> {
        let given = self.bytes.len();
        let taken = count.checked_mul(size_of::<T>()).filter(|taken| *taken <= given);
        let (first, rest) = self.bytes.split_at_mut(taken.ok_or(length(count.saturating_mul(size_of::<T>()), given))?);
        Ok((elements_mut(first)?, Scratch { bytes: rest }))
    }
}

fn same<T: Element>(expected: DType) -> Result<(), Error> {
    let given = T::DTYPE;
    if given == expected { Ok(()) } else { Err(ErrorKind::Element { expected, given }.into()) }
}

/// Where each element of a tensor lies in its slice, in row-major order. Not for weights in blocks, whose slices are of
/// blocks.
///
/// ```
/// use model_graph::{DType, View, cpu::positions};
///
/// let mut view = View { dtype: DType::F32, offset: 0, rank: 2, dims: [1; 6], strides: [0; 6] };
/// (view.dims[0], view.dims[1]) = (2, 3);
/// (view.strides[0], view.strides[1]) = (1, 10);
/// assert!(positions(&view).eq([0, 10, 20, 1, 11, 21]));
/// ```
pub fn positions(view: &View) -> Positions<'_> {
    Positions { view, index: [0; MAX_RANK], next: (view.elements() > 0).then_some(0) }
}

/// What [`positions`] gives.
#[derive(Clone, Debug)]
pub struct Positions<'v> {
    view: &'v View,
    index: [usize; MAX_RANK],
    next: Option<usize>,
}

impl Iterator for Positions<'_> {
    type Item = usize;

    fn next(&mut self) -> Option<usize> {
        let at = self.next?;
        let mut next = at;
        for axis in (0..self.view.rank).rev() {
            self.index[axis] += 1;
            if self.index[axis] < self.view.dims[axis] {
                self.next = Some(next.wrapping_add(self.view.strides[axis]));
                return Some(at);
            }
            self.index[axis] = 0;
            next = next.wrapping_sub((self.view.dims[axis] - 1).wrapping_mul(self.view.strides[axis]));
        }
        self.next = None;
        Some(at)
    }
}
