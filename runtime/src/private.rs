//! What emitted code calls. Not for anybody else: it may change in any version.

mod construct;
mod place;

use bytemuck::Pod;
pub use model_graph_macros::compose;
use model_graph_planner::op::Spec;
use model_graph_planner::op::own::{Elements, Extent, Pattern, Rule};
pub use model_graph_planner::{Dim, OpenExtents};

pub use self::construct::{adopt, allocate, fill, load, set};
pub(crate) use self::construct::{allocate_for, fits_in, load_at};
pub use self::place::{extent, fits, look, open_dim, packed, part, scratch, step, strided, tensor};
pub use crate::marks::{Half, Inputs, Mark, loaded};
pub use crate::open::{Extents, Given, Moving, Open as OpenDims, Places};
use crate::open::{OpenMut, OpenRef};

#[cfg(feature = "alloc")]
pub use crate::shared::image::image;
pub use crate::shared::image::{check_image, image_size, write_image};
pub use crate::shared::{
    SharedWeights, adopt_weights, allocate_weights, load_weights, shared, weight_offset, weight_view,
};
use crate::tensor::Array;
use crate::{Buffer, Error, Plan, Shared, TensorMut, TensorRef, View};
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

/// A tensor to read.
pub fn tensor_ref<T: Array, B: Buffer>(buffer: &B, offset: usize) -> TensorRef<'_, T, B> {
    TensorRef::new(buffer, offset)
}

/// A tensor to write.
pub fn tensor_mut<'a, T: Array, B: Buffer>(buffer: &'a mut B, offset: usize, mark: Mark<'a>) -> TensorMut<'a, T, B> {
    TensorMut::new(buffer, offset, mark)
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

/// An input with open extents, to write.
pub fn open_mut<'a, T: Pod, const R: usize, B: Buffer, Row>(
    buffer: &'a mut B,
    offset: usize,
    extents: &'static Extents,
    given: Given<'a>,
    mark: Mark<'a>,
) -> OpenMut<'a, T, R, B, Row> {
    OpenMut::new(buffer, offset, extents, given, mark)
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
    crate::state::reset(buffer, plan, &mut inputs.states, None)
}

/// Sets the state of that name to zero, or those of the block with that path.
pub fn reset_state_of<B: Buffer, const N: usize>(
    buffer: &mut B,
    plan: &Plan<'static>,
    inputs: &mut Inputs<N>,
    name: &str,
) -> Result<(), Error> {
    crate::state::reset(buffer, plan, &mut inputs.states, Some(name))
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
    crate::state::restore(buffer, plan, &mut inputs.states, saved)
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
