//! What emitted code calls. Not for anybody else: it may change in any version.

use bytemuck::Pod;
pub use model_graph_macros::compose;
use model_graph_planner::op::Operator;
pub use model_graph_planner::{Dim, OpenExtents};
use model_graph_planner::{Formula, Shape, Type};

pub use crate::open::{Extents, Given, Moving, Open as OpenDims, Places};
use crate::open::{OpenMut, OpenRef};

use model_graph_planner::op::Spec;
use model_graph_planner::op::own::{Elements, Extent, Pattern, Rule};

#[cfg(feature = "alloc")]
pub use crate::shared::image::image;
pub use crate::shared::image::{check_image, image_size, write_image};
pub use crate::shared::{
    SharedWeights, adopt_weights, allocate_weights, load_weights, shared, weight_offset, weight_view,
};
use crate::tensor::Array;
use crate::{
    Buffer, BufferType, DType, Error, ErrorKind, Plan, PlanStep, PlanTensor, Role, Shared, Storage, TensorMut,
    TensorRef, Usage, View, WeightSource,
};
#[cfg(feature = "alloc")]
pub use alloc::vec::Vec;

/// Never implemented; the message is what a user reads who asks for a transient tensor.
#[diagnostic::on_unimplemented(
    message = "this tensor is transient: its bytes are given to others after its last reader",
    label = "not readable after forward",
    note = "write `#[keep]` on its field to read it after forward, or watch it with `forward_with(&mut Observer(…))`"
)]
pub trait Transient {}

/// Never implemented; see [`Transient`].
#[diagnostic::on_unimplemented(
    message = "this input cannot be read back: forward may write over its bytes after its last reader",
    label = "not readable",
    note = "write `#[input(keep)]` on its field to keep it, or write it anew through its `…_mut()`"
)]
pub trait Overwritten {}

/// Never implemented; see [`Transient`].
#[diagnostic::on_unimplemented(
    message = "this output is read from what `forward` returns",
    label = "not readable here",
    note = "write `let outputs = model.forward()?;` and ask `outputs` for it"
)]
pub trait AfterForward {}

/// Never implemented; see [`Transient`].
#[diagnostic::on_unimplemented(
    message = "this model has a dim that is bound only where it is used as a block",
    label = "it cannot stand alone",
    note = "write `NAME = n` instead of `NAME = _` in its `dims(…)`, or use it in another model: `Block<NAME = n>(x)`"
)]
pub trait Open {}

/// A block that calls operator number `N` of those that users' crates declare: how a model that uses the block, and has
/// no name for the operator, runs it.
pub trait Runs<B: Buffer, const N: usize> {
    /// The settings' types.
    type Settings;

    /// Runs the operator with these settings.
    fn run(
        buffer: &mut B,
        settings: Self::Settings,
        inputs: &[View],
        outputs: &[View],
        scratch: &[View],
        shared: Option<Shared<'_>>,
    ) -> Result<(), Error>;
}

/// The rule of an operator that has none because of an error elsewhere.
pub const fn no_rule(name: &'static str) -> Rule {
    Rule {
        spec: Spec { name, doc: "", operands: &[], optional: 0, variadic: false, settings: &[] },
        kinds: &[],
        extents: &[],
        operands: &[],
        result: Pattern { elements: Elements::OneOf(&[]), leading: false, dims: &[] },
        in_place: &[],
        strided: &[],
        strided_output: false,
        scratch: Extent::Number(0),
    }
}

/// The plan of a model that has none because of an error elsewhere.
pub const fn no_plan(model: &'static str) -> Plan<'static> {
    Plan {
        model,
        size: 0,
        align: 1,
        lower_bound: 0,
        optimal: false,
        persistent: 0,
        shared: 0,
        tensors: &[],
        steps: &[],
        saved: &[],
        open: OpenExtents::NONE,
    }
}

/// A plan's size on this target.
pub const fn fits<const SIZE: u64>() -> usize {
    assert!(SIZE <= isize::MAX as u64, "the model's plan is larger than what this target can address");
    SIZE as usize
}

/// A tensor of a plan.
pub const fn tensor(
    name: &'static str,
    role: Role,
    view: View,
    first: usize,
    last: usize,
    storage: Storage,
) -> PlanTensor<'static> {
    PlanTensor { name, role, view, first, last, storage }
}

/// A step of a plan.
pub const fn step(
    op: &'static str,
    inputs: &'static [usize],
    outputs: &'static [usize],
    scratch: &'static [usize],
) -> PlanStep<'static> {
    PlanStep { op, inputs, outputs, scratch }
}

/// A view with these strides.
pub const fn strided(dtype: DType, offset: usize, dims: &[usize], strides: &[usize]) -> View {
    let mut view = View { dtype, offset, rank: dims.len(), dims: [1; crate::MAX_RANK], strides: [0; crate::MAX_RANK] };
    let mut axis = 0;
    while axis < dims.len() {
        view.dims[axis] = dims[axis];
        view.strides[axis] = strides[axis];
        axis += 1;
    }
    view
}

/// A view of packed elements.
pub const fn packed(dtype: DType, offset: usize, dims: &[usize]) -> View {
    let mut view = View { dtype, offset, rank: dims.len(), dims: [1; crate::MAX_RANK], strides: [0; crate::MAX_RANK] };
    let mut stride = 1;
    let mut axis = dims.len();
    while axis > 0 {
        axis -= 1;
        view.dims[axis] = dims[axis];
        view.strides[axis] = stride;
        stride *= dims[axis];
    }
    view
}

/// A zeroed buffer that fits the plan.
pub fn allocate<T: BufferType>(buffer_type: &T, plan: &Plan<'static>) -> Result<T::Buffer, Error> {
    let needed = buffer_type.alignment();
    if !plan.align.is_multiple_of(needed) {
        return Err(ErrorKind::AlignmentTooSmall { needed, planned: plan.align }.into());
    }
    if plan.size > buffer_type.max_size() {
        return Err(ErrorKind::TooLarge { needed: plan.size, max: buffer_type.max_size() }.into());
    }
    for tensor in plan.tensors.iter().filter(|tensor| tensor.storage == Storage::Own && !plan.is_shared(&tensor.view)) {
        let needed = buffer_type.alloc_size(&tensor.view);
        let planned = tensor.view.span().len().next_multiple_of(plan.align);
        let end = tensor.view.offset.saturating_add(needed);
        if needed > planned || (needed > tensor.view.span().len() && end > plan.size) {
            return Err(ErrorKind::SlotTooSmall { tensor: tensor.name, needed, planned }.into());
        }
    }
    let buffer = buffer_type.allocate(plan.size, plan.align, Usage::Any)?;
    prepare(buffer, plan)
}

/// A given buffer, cleared, if it fits the plan.
pub fn adopt<B: Buffer>(mut buffer: B, plan: &Plan<'static>) -> Result<B, Error> {
    buffer = check(buffer, plan)?;
    buffer.reset();
    buffer.clear(0)?;
    prepare(buffer, plan)
}

fn check<B: Buffer>(buffer: B, plan: &Plan<'static>) -> Result<B, Error> {
    fits_in(buffer, plan.size, plan)
}

/// The buffer, if it has so many bytes at an address that the plan can have.
pub(crate) fn fits_in<B: Buffer>(buffer: B, size: usize, plan: &Plan<'static>) -> Result<B, Error> {
    if buffer.size() < size {
        return Err(ErrorKind::TooSmall { needed: size, given: buffer.size() }.into());
    }
    if !buffer.base().is_multiple_of(plan.align) {
        return Err(ErrorKind::Misaligned { needed: plan.align, address: buffer.base() }.into());
    }
    Ok(buffer)
}

fn prepare<B: Buffer>(buffer: B, plan: &Plan<'static>) -> Result<B, Error> {
    let mut buffer = check(buffer, plan)?;
    for tensor in plan.tensors.iter().filter(|tensor| tensor.role.is_persistent() && !plan.is_shared(&tensor.view)) {
        buffer.init_tensor(&tensor.view)?;
    }
    Ok(buffer)
}

/// Writes a constant.
pub fn set<B: Buffer, T: Pod>(buffer: &mut B, offset: usize, value: &T) -> Result<(), Error> {
    buffer.set(offset, bytemuck::bytes_of(value))
}

/// Has a function write a constant: in place on host memory.
pub fn fill<B: Buffer, T: Array>(buffer: &mut B, offset: usize, fill: fn(&mut T)) -> Result<(), Error> {
    buffer.with_host(offset, size_of::<T>(), &mut |bytes| fill(bytemuck::from_bytes_mut(bytes)))
}

/// A tensor to read.
pub fn tensor_ref<T: Array, B: Buffer>(buffer: &B, offset: usize) -> TensorRef<'_, T, B> {
    TensorRef::new(buffer, offset)
}

/// A tensor to write.
pub fn tensor_mut<'a, T: Array, B: Buffer>(
    buffer: &'a mut B,
    offset: usize,
    written: Option<Written<'a>>,
) -> TensorMut<'a, T, B> {
    TensorMut::new(buffer, offset, written.map(|written| written.0))
}

/// A weight to write.
pub fn weight_mut<T: Array, B: Buffer>(buffer: &mut B, offset: usize) -> TensorMut<'_, T, B> {
    TensorMut::new(buffer, offset, None)
}

/// The tensor of one copy of a block. `copies` are, for each chain on the way, the number of the copy and how many there
/// are.
///
/// # Panics
/// When there is no copy of that number.
#[track_caller]
pub const fn copy(tensors: &[usize], copies: &[(usize, usize)]) -> usize {
    let (mut at, mut chain) = (0, 0);
    while chain < copies.len() {
        let (copy, count) = copies[chain];
        assert!(copy < count, "there is no copy of that number in the chain");
        at = at * count + copy;
        chain += 1;
    }
    tensors[at]
}

/// An extent that follows from an open dim: `(times * v + plus) / over`.
pub const fn open_dim(dim: usize, bound: usize, times: usize, plus: isize, over: usize) -> Dim {
    let formula = Formula { dim, bound, times, plus, over };
    let size = extent(bound, times, plus, over);
    Dim { size, name: 0, formula: Some(formula) }
}

/// The extent that follows from a value of an open dim.
pub const fn extent(value: usize, times: usize, plus: isize, over: usize) -> usize {
    let formula = Formula { dim: 0, bound: value, times, plus, over };
    match formula.at(value) {
        Some(extent) => extent,
        None => usize::MAX,
    }
}

/// A view as an operator looks at another. A checked plan has none that cannot be.
pub fn look<O: Operator>(op: &O, of: &View, dims: &[usize]) -> Result<View, Error> {
    let ty = type_of(of.dtype, dims);
    op.view(of, &ty).ok_or_else(|| ErrorKind::Overlap { op: op.kernel() }.into())
}

/// The part of a concatenation that starts at `start` along `axis`.
pub fn part(of: &View, axis: usize, start: usize, size: usize) -> View {
    let mut view = *of;
    view.offset += start * of.strides[axis] * of.dtype.size();
    view.dims[axis] = size;
    view
}

/// The scratch of a step, of which there is room for `most` bytes.
pub fn scratch<O: Operator>(
    op: &O,
    inputs: &[(DType, &[usize])],
    output: (DType, &[usize]),
    offset: usize,
    most: usize,
) -> View {
    let mut types = [Type::f32(Shape::SCALAR); crate::op::MAX_OPERANDS];
    for (ty, (dtype, dims)) in types.iter_mut().zip(inputs) {
        *ty = type_of(*dtype, dims);
    }
    let count = inputs.len().min(types.len());
    packed(DType::U8, offset, &[op.scratch(&types[..count], &type_of(output.0, output.1)).min(most)])
}

fn type_of(dtype: DType, dims: &[usize]) -> Type {
    Type { dtype, shape: Shape::new(dims).unwrap_or_default() }
}

/// An input with open extents, to write.
pub fn open_mut<'a, T: Pod, const R: usize, B: Buffer>(
    buffer: &'a mut B,
    offset: usize,
    extents: &'static Extents,
    given: Given<'a>,
    written: Written<'a>,
) -> OpenMut<'a, T, R, B> {
    OpenMut::new(buffer, offset, extents, given, written.0)
}

/// A tensor with open extents, to read.
pub fn open_ref<'a, T: Pod, const R: usize, B: Buffer>(buffer: &'a B, view: &View) -> OpenRef<'a, T, R, B> {
    OpenRef::new(buffer, view)
}

/// A kept input with open extents, to read.
pub fn open_kept<'a, T: Pod, const R: usize, B: Buffer>(
    buffer: &'a B,
    offset: usize,
    extents: &Extents,
    values: &[usize],
) -> OpenRef<'a, T, R, B> {
    OpenRef::kept(buffer, offset, extents, values)
}

/// Which inputs were written since the last forward, and whether states may be half written. A model's own module sees the field, so what is in it is private.
#[derive(Clone, Debug)]
pub struct Inputs<const N: usize> {
    written: [bool; N],
    /// A forward has written states and did not end, or has not yet.
    torn: bool,
}

impl<const N: usize> Inputs<N> {
    /// None of them.
    pub const fn none() -> Inputs<N> {
        Inputs { written: [false; N], torn: false }
    }

    /// The mark of one input, for whoever writes it.
    pub fn written(&mut self, input: usize) -> Written<'_> {
        Written(&mut self.written[input])
    }

    /// Fails unless every input was written and the states are whole.
    pub fn check(&self, inputs: &[(&'static str, bool); N]) -> Result<(), Error> {
        self.whole()?;
        for (written, (input, _)) in self.written.iter().zip(inputs) {
            if !written {
                return Err(ErrorKind::InputNotSet { input }.into());
            }
        }
        Ok(())
    }

    /// Fails unless every input was written; those that are not kept then count as not written.
    pub fn take(&mut self, inputs: &[(&'static str, bool); N]) -> Result<(), Error> {
        self.check(inputs)?;
        for (written, (_, keep)) in self.written.iter_mut().zip(inputs) {
            *written = *keep;
        }
        Ok(())
    }

    /// Fails when states may be half written.
    fn whole(&self) -> Result<(), Error> {
        if self.torn { Err(ErrorKind::Torn.into()) } else { Ok(()) }
    }

    /// Before a step that writes a state. Says whether one had been written already.
    pub fn tear(&mut self) -> bool {
        core::mem::replace(&mut self.torn, true)
    }

    /// After that step, which wrote nothing if it refused a position or an index.
    pub fn torn(&mut self, before: bool, result: Result<(), Error>) -> Result<(), Error> {
        if let Err(error) = &result
            && matches!(
                error.kind(),
                ErrorKind::Position { .. } | ErrorKind::IndexOutOfRange { .. } | ErrorKind::Past { .. }
            )
        {
            self.torn = before;
        }
        result
    }

    /// After the last step.
    pub fn mend(&mut self) {
        self.torn = false;
    }
}

/// How many bytes the saved states of a model take.
pub const fn state_size(plan: &Plan<'static>) -> usize {
    crate::state::size(plan)
}

/// Sets every state to zero.
pub fn reset_state<B: Buffer, const N: usize>(
    buffer: &mut B,
    plan: &Plan<'static>,
    inputs: &mut Inputs<N>,
) -> Result<(), Error> {
    inputs.torn = true;
    crate::state::reset(buffer, plan, None)?;
    inputs.torn = false;
    Ok(())
}

/// Sets the state of that name to zero, or those of the block with that path.
pub fn reset_state_of<B: Buffer, const N: usize>(
    buffer: &mut B,
    plan: &Plan<'static>,
    inputs: &mut Inputs<N>,
    name: &str,
) -> Result<(), Error> {
    let result = crate::state::reset(buffer, plan, Some(name));
    // A device that fails in the midst of it leaves neither the old value nor zeros.
    inputs.torn |= result.as_ref().is_err_and(|error| !matches!(error.kind(), ErrorKind::NoState { .. }));
    result
}

/// Writes the states to `out`.
pub fn save_state<B: Buffer, const N: usize>(
    buffer: &B,
    plan: &Plan<'static>,
    inputs: &Inputs<N>,
    out: &mut [u8],
) -> Result<(), Error> {
    inputs.whole()?;
    crate::state::save(buffer, plan, out)
}

/// Writes saved states back, once all of them were looked through.
pub fn restore_state<B: Buffer, const N: usize>(
    buffer: &mut B,
    plan: &Plan<'static>,
    inputs: &mut Inputs<N>,
    saved: &[u8],
) -> Result<(), Error> {
    crate::state::check(plan, saved)?;
    inputs.torn = true;
    crate::state::restore(buffer, plan, saved)?;
    inputs.torn = false;
    Ok(())
}

/// The mark of an input, which only the accessor of the runtime sets.
#[derive(Debug)]
pub struct Written<'a>(pub(crate) &'a mut bool);

/// Fills weights from a source: first everything is looked at, then everything is written.
pub fn load<B: Buffer, S: WeightSource + ?Sized>(
    buffer: &mut B,
    plan: &Plan<'static>,
    weights: &[(usize, &'static str)],
    source: &S,
) -> Result<(), Error> {
    load_at(buffer, 0, plan, weights, source)
}

/// As [`load`], into a buffer whose first byte counts as offset `start`.
pub(crate) fn load_at<B: Buffer, S: WeightSource + ?Sized>(
    buffer: &mut B,
    start: usize,
    plan: &Plan<'static>,
    weights: &[(usize, &'static str)],
    source: &S,
) -> Result<(), Error> {
    crate::weights::check(plan, weights, source)?;
    for (tensor, name) in weights {
        // A source that answers otherwise the second time is not believed.
        match source.find(name)? {
            Some(weight) if crate::weights::fits(&plan.tensors[*tensor].view, &weight) => {
                buffer.set(plan.tensors[*tensor].view.offset - start, weight.bytes)?;
            }
            _ => return crate::weights::check(plan, &[(*tensor, *name)], source).and(Err(changed(name))),
        }
    }
    Ok(())
}

fn changed(name: &'static str) -> Error {
    crate::weights::Complaints { count: 1, first: name, ..Default::default() }.into()
}

/// What only models whose crate has an allocator get.
#[cfg(feature = "alloc")]
#[doc(hidden)]
#[macro_export]
macro_rules! __if_alloc {
    ($($item:tt)*) => { $($item)* };
}

/// What only models whose crate has an allocator get.
#[cfg(not(feature = "alloc"))]
#[doc(hidden)]
#[macro_export]
macro_rules! __if_alloc {
    ($($item:tt)*) => {};
}

pub use crate::__if_alloc as if_alloc;
