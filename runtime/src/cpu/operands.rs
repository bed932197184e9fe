//! From one buffer and a call's views to the slices a kernel works on: everything is checked here, before a kernel
//! writes anything, and the slices are carved out without overlap.

use core::ops::Range;

use bytemuck::Pod;
use model_graph_planner::op::{Described, MAX_OPERANDS, Operator, infer};
use model_graph_planner::{DType, Dim, Shape, Type};

use crate::{Call, Error, ErrorKind, MAX_RANK, Shared, View, op};

/// Where a kernel finds an input.
#[derive(Clone, Copy, Debug)]
pub(super) enum Input<'a, T> {
    /// The operand was left out.
    Absent,
    /// Its elements are the output's, in the same places: the kernel works in place.
    Output,
    /// Its elements, from the first to the last, with whatever lies between them.
    Slice(&'a [T]),
}

impl<'a, T> Input<'a, T> {
    /// The operand's bytes as elements.
    ///
    /// # Errors
    /// [`ErrorKind::Misaligned`].
    pub(super) fn of<U: Pod>(self) -> Result<Input<'a, U>, Error>
    where
        T: Pod,
    {
        Ok(match self {
            Input::Absent => Input::Absent,
            Input::Output => Input::Output,
            Input::Slice(slice) => Input::Slice(elements(bytemuck::cast_slice(slice))?),
        })
    }

    /// The elements of an operand that is neither left out nor the output.
    pub(super) fn slice(self) -> Option<&'a [T]> {
        match self {
            Input::Slice(slice) => Some(slice),
            Input::Absent | Input::Output => None,
        }
    }
}

/// The slices of one step. Element `[i, j, …]` of an operand is `slice[i * strides[0] + j * strides[1] + …]`.
#[derive(Debug)]
pub(super) struct Operands<'a, T, const N: usize> {
    /// The output's elements, from the first to the last.
    pub(super) output: &'a mut [T],
    /// The inputs.
    pub(super) inputs: [Input<'a, T>; N],
    /// The first scratch tensor; empty when there is none.
    pub(super) scratch: &'a mut [T],
}

/// Checks a call against its operator's own rules, then carves its operands out of `bytes`.
///
/// # Errors
/// [`ErrorKind::Length`] when the operands or the scratch are not what the operator takes, [`ErrorKind::OutOfRange`],
/// [`ErrorKind::Overlap`], [`ErrorKind::Misaligned`]. Nothing was written.
pub(super) fn operands<'a, O: Described, T: Pod, const N: usize>(
    bytes: &'a mut [u8],
    call: &Call<'a, O>,
) -> Result<Operands<'a, T, N>, Error> {
    const { assert!(N <= MAX_OPERANDS) };
    let mut in_place = [false; MAX_OPERANDS];
    let mut strided = [false; MAX_OPERANDS];
    for input in 0..N {
        in_place[input] = call.op.in_place(input);
        strided[input] = call.op.strided_input(input);
    }
    let (output, types) = shapes(O::SPEC.operands.len() - O::SPEC.optional, call.inputs, call.outputs, N)?;
    let given = call.inputs.len();
    let narrow = types[..given].iter().enumerate().any(|(at, ty)| ty.dtype.is_half() && !call.op.reads_halves(at));
    if call.op.through_f32() && narrow {
        return Err(length(output.elements(), call.inputs.first().map_or(0, View::elements)));
    }
    match infer(&call.op, &types[..given]) {
        Ok(inferred) if inferred == type_of(output)? => {}
        Ok(inferred) => return Err(length(inferred.shape.elements().unwrap_or(usize::MAX), output.elements())),
        Err(_) => return Err(length(output.elements(), call.inputs.first().map_or(0, View::elements))),
    }
    for (input, view) in call.inputs.iter().enumerate() {
        packed_unless(strided[input], view)?;
    }
    packed_unless(call.op.writes(output), output)?;
    enough(call.op.scratch(&types[..given], &type_of(output)?), call.scratch)?;
    carve((bytes, call.shared), O::SPEC.name, output, call.inputs, &in_place, call.scratch.first())
}

/// As [`operands`], for an operator that has none and writes strides.
pub(super) fn only_output<'a, O: Operator, T: Pod>(
    bytes: &'a mut [u8],
    call: &Call<'_, O>,
) -> Result<&'a mut [T], Error> {
    let (output, _) = shapes(0, call.inputs, call.outputs, 0)?;
    match call.op.infer(&[]) {
        Ok(inferred) if inferred == type_of(output)? => {}
        Ok(inferred) => return Err(length(inferred.shape.elements().unwrap_or(usize::MAX), output.elements())),
        Err(_) => return Err(length(MAX_RANK, output.rank)),
    }
    Ok(carve::<T, 0>((bytes, None), call.op.kernel(), output, &[], &[false; MAX_OPERANDS], None)?.output)
}

/// As [`operands`], for an operator with stages: its own operands are the first `count`, and each of the others has to
/// broadcast to the output and share no byte with it.
pub(super) fn fused_operands<'a, O: Described, F>(
    bytes: &'a mut [u8],
    op: &O,
    count: usize,
    call: &Call<'a, F>,
) -> Result<Operands<'a, f32, MAX_OPERANDS>, Error> {
    let Call { inputs, outputs, scratch, shared, .. } = *call;
    let (own, others) = inputs.split_at(count);
    let (output, types) = shapes(O::SPEC.operands.len() - O::SPEC.optional, own, outputs, O::SPEC.operands.len())?;
    match infer(op, &types[..count]) {
        Ok(inferred) if inferred == type_of(output)? && inferred.dtype == DType::F32 => {}
        _ => return Err(length(output.elements(), own.first().map_or(0, View::elements))),
    }
    for (input, view) in own.iter().enumerate() {
        packed_unless(op.strided_input(input), view)?;
    }
    packed_unless(op.writes(output), output)?;
    enough(op.scratch(&types[..count], &type_of(output)?), scratch)?;
    let shape = type_of(output)?.shape;
    for other in others {
        if type_of(other)?.shape.broadcast(&shape) != Ok(shape) || other.dtype != output.dtype {
            return Err(length(output.elements(), other.elements()));
        }
    }
    carve((bytes, shared), O::SPEC.name, output, inputs, &[false; MAX_OPERANDS], scratch.first())
}

/// Checks a call that writes a state, then carves the state and the source out of `bytes`. The first of the two inputs is
/// the state itself. Also gives the position of the first row.
///
/// # Errors
/// As [`operands`], and [`ErrorKind::Position`] when the rows do not fit. Nothing was written.
pub(super) fn written<'a, T: Pod>(
    bytes: &'a mut [u8],
    call: &Call<'a, op::Write>,
) -> Result<(usize, Operands<'a, T, 2>), Error> {
    let (output, types) = shapes(2, call.inputs, call.outputs, 3)?;
    match call.op.infer(&types[..call.inputs.len()]) {
        Ok(inferred) if inferred == type_of(output)? => {}
        _ => return Err(length(output.elements(), call.inputs[1].elements())),
    }
    packed_unless(false, output)?;
    if !same_place(&call.inputs[0], output) {
        return Err(ErrorKind::Overlap { op: "write" }.into());
    }
    let position = match call.inputs.get(2) {
        None => call.op.at,
        Some(at) => {
            let at = match of_shared(call.shared, at)? {
                Some(shared) => shared,
                None => &bytes[span(at, bytes.len())?],
            };
            let at: u32 = bytemuck::pod_read_unaligned(at);
            usize::try_from(at).unwrap_or(usize::MAX)
        }
    };
    if !call.op.whole {
        let [extent, rows] = [&call.inputs[0], &call.inputs[1]].map(|view| view.dims[call.op.axis]);
        if position > extent - rows {
            return Err(ErrorKind::Position { op: "write", position, rows, extent }.into());
        }
    }
    let mut in_place = [false; MAX_OPERANDS];
    in_place[0] = true;
    Ok((position, carve((bytes, call.shared), "write", output, &call.inputs[..2], &in_place, None)?))
}

/// The only output, and the operands' types, if there are as many as there have to be.
pub(super) fn shapes<'v>(
    least: usize,
    inputs: &[View],
    outputs: &'v [View],
    most: usize,
) -> Result<(&'v View, [Type; MAX_OPERANDS]), Error> {
    let [output] = outputs else { return Err(length(1, outputs.len())) };
    if inputs.len() < least || inputs.len() > most {
        return Err(length(least, inputs.len()));
    }
    let mut types = [Type::f32(Shape::SCALAR); MAX_OPERANDS];
    for (slot, view) in types.iter_mut().zip(inputs) {
        *slot = type_of(view)?;
    }
    Ok((output, types))
}

pub(super) fn type_of(view: &View) -> Result<Type, Error> {
    let dims = view.dims.get(..view.rank).ok_or(length(MAX_RANK, view.rank))?;
    let mut shape = Shape::SCALAR;
    for &size in dims {
        shape = shape.with(Dim::new(size)).ok_or(length(MAX_RANK, view.rank))?;
    }
    Ok(Type { dtype: view.dtype, shape })
}

/// The error of an operand that is not what its operator takes.
pub(super) fn length(expected: usize, given: usize) -> Error {
    ErrorKind::Length { expected, given }.into()
}

pub(super) fn packed_unless(strided: bool, view: &View) -> Result<(), Error> {
    if strided || view.is_packed() { Ok(()) } else { Err(length(view.elements(), view.span().len())) }
}

/// Fails unless the first scratch tensor has the bytes that an operator asks for.
fn enough(needed: usize, scratch: &[View]) -> Result<(), Error> {
    let given = scratch.first().map_or(0, |view| view.span().len());
    if given < needed { Err(length(needed, given)) } else { Ok(()) }
}

/// Hands out the output and the scratch as `&mut`, the inputs as `&` from the gaps between those two or from the shared
/// weights, where nothing is ever written.
pub(super) fn carve<'a, T: Pod, const N: usize>(
    (bytes, shared): (&'a mut [u8], Option<Shared<'a>>),
    op: &'static str,
    output: &View,
    inputs: &[View],
    in_place: &[bool; MAX_OPERANDS],
    scratch: Option<&View>,
) -> Result<Operands<'a, T, N>, Error> {
    let size = bytes.len().min(shared.map_or(usize::MAX, |shared| shared.start));
    let overlap = || Error::from(ErrorKind::Overlap { op });
    // What is empty is nowhere; the end of the buffer is as good a place for it as any.
    let place = |span: Range<usize>| if span.is_empty() { size..size } else { span };
    let written = place(span(output, size)?);
    let work = place(scratch.map_or(Ok(size..size), |view| span(view, size))?);
    let scratch_first = work.start < written.start;
    let (low, high) = if scratch_first { (&work, &written) } else { (&written, &work) };
    if low.end > high.start {
        return Err(overlap());
    }
    let (head, rest) = bytes.split_at_mut(low.start);
    let (low_bytes, rest) = rest.split_at_mut(low.len());
    let (middle, rest) = rest.split_at_mut(high.start - low.end);
    let (high_bytes, tail) = rest.split_at_mut(high.len());
    let gaps: [(usize, &'a [u8]); 3] = [(0, head), (low.end, middle), (high.end, tail)];
    let mut found = [const { Input::Absent }; N];
    for (input, view) in inputs.iter().enumerate() {
        if in_place[input] && same_place(view, output) {
            found[input] = Input::Output;
            continue;
        }
        if let Some(bytes) = of_shared(shared, view)? {
            found[input] = Input::Slice(elements(bytes)?);
            continue;
        }
        let span = span(view, size)?;
        if span.is_empty() {
            found[input] = Input::Slice(&[]);
            continue;
        }
        let (start, gap) = *gaps.iter().rfind(|(start, _)| *start <= span.start).ok_or_else(overlap)?;
        let slice = gap.get(span.start - start..span.end - start).ok_or_else(overlap)?;
        found[input] = Input::Slice(elements(slice)?);
    }
    let (output, scratch) = if scratch_first { (high_bytes, low_bytes) } else { (low_bytes, high_bytes) };
    Ok(Operands { output: elements_mut(output)?, inputs: found, scratch: elements_mut(scratch)? })
}

/// The bytes of an input that lies among the shared weights.
fn of_shared<'a>(shared: Option<Shared<'a>>, view: &View) -> Result<Option<&'a [u8]>, Error> {
    let Some(Shared { start, buffer }) = shared.filter(|shared| shared.holds(view)) else { return Ok(None) };
    let bytes = buffer.host_bytes().ok_or(ErrorKind::NotOnHost { buffer: buffer.name() })?;
    let place = span(&View { offset: view.offset - start, ..*view }, bytes.len())?;
    Ok(Some(&bytes[place]))
}

/// The view's bytes, if they lie within `size`. Nothing wraps, whatever the view says.
fn span(view: &View, size: usize) -> Result<Range<usize>, Error> {
    let mut last = Some(0usize);
    if view.dtype.is_quantised() {
        // In whole blocks, one row after the other.
        let rows = view.dims[..view.rank.saturating_sub(1)].iter().try_fold(1usize, |rows, dim| rows.checked_mul(*dim));
        let blocks = view.dims().last().map_or(1, |last| last.div_ceil(view.dtype.block()));
        let len = rows.and_then(|rows| rows.checked_mul(blocks)).and_then(|count| count.checked_mul(view.dtype.size()));
        return match len.and_then(|len| Some((len, view.offset.checked_add(len)?))) {
            Some((0, _)) => Ok(size..size),
            Some((_, end)) if end <= size => Ok(view.offset..end),
            _ => Err(ErrorKind::OutOfRange { offset: view.offset, len: len.unwrap_or(usize::MAX), size }.into()),
        };
    }
    for (dim, stride) in view.dims().iter().zip(view.strides()) {
        let Some(steps) = dim.checked_sub(1) else { return Ok(size..size) };
        last = steps.checked_mul(*stride).and_then(|reach| last?.checked_add(reach));
    }
    let len = last.and_then(|last| last.checked_add(1)).and_then(|count| count.checked_mul(view.dtype.size()));
    let end = len.and_then(|len| view.offset.checked_add(len));
    match (len, end) {
        (Some(_), Some(end)) if end <= size => Ok(view.offset..end),
        (len, _) => Err(ErrorKind::OutOfRange { offset: view.offset, len: len.unwrap_or(usize::MAX), size }.into()),
    }
}

/// True when an input, broadcast to the output's shape, addresses the output's elements in the output's order.
fn same_place(input: &View, output: &View) -> bool {
    if input.dtype != output.dtype || input.offset != output.offset {
        return false;
    }
    let strides = broadcast(input, output.dims());
    (0..output.rank).all(|axis| output.dims[axis] < 2 || strides[axis] == output.strides[axis])
}

/// The strides with which a view is walked when it is broadcast to `dims`, by numpy's rule. `dims` has at least as
/// many dimensions.
pub(super) fn broadcast(view: &View, dims: &[usize]) -> [usize; MAX_RANK] {
    let mut strides = [0; MAX_RANK];
    let missing = dims.len() - view.rank;
    for axis in 0..view.rank {
        if view.dims[axis] > 1 {
            strides[missing + axis] = view.strides[axis];
        }
    }
    strides
}

/// Bytes as elements, or an error when they do not lie as elements have to.
pub(super) fn elements<T: Pod>(bytes: &[u8]) -> Result<&[T], Error> {
    let address = bytes.as_ptr().addr();
    if bytes.is_empty() {
        return Ok(&[]);
    }
    bytemuck::try_cast_slice(bytes).map_err(|_| ErrorKind::Misaligned { needed: align_of::<T>(), address }.into())
}

/// As [`elements`].
pub(super) fn elements_mut<T: Pod>(bytes: &mut [u8]) -> Result<&mut [T], Error> {
    let address = bytes.as_ptr().addr();
    if bytes.is_empty() {
        return Ok(&mut []);
    }
    bytemuck::try_cast_slice_mut(bytes).map_err(|_| ErrorKind::Misaligned { needed: align_of::<T>(), address }.into())
}
