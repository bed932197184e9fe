//! How a model's buffer is made and filled: allocated or taken over, with its constants and its weights. It knows plans and
//! sources, and nothing of operators.

use bytemuck::Pod;

use crate::marks::{Half, wrote_nothing};
use crate::tensor::Array;
use crate::{Buffer, BufferType, Error, ErrorKind, Plan, PlanTensor, Storage, Usage, View, WeightSource};

/// A zeroed buffer that fits the plan.
pub fn allocate<T: BufferType>(buffer_type: &T, plan: &Plan<'static>) -> Result<T::Buffer, Error> {
    let own = plan.tensors.iter().filter(|tensor| tensor.storage == Storage::Own && is_within(plan, &tensor.view));
    let buffer = allocate_for(buffer_type, plan, (plan.size, Usage::Any), own.map(|tensor| (tensor, tensor.view)))?;
    prepare(buffer, plan)
}

/// A zeroed buffer of that size for these tensors, each with where it lies there, if the buffer type can have the plan's
/// alignment and takes no more for a tensor than was planned.
pub(crate) fn allocate_for<T: BufferType>(
    buffer_type: &T,
    plan: &Plan<'static>,
    (size, usage): (usize, Usage),
    tensors: impl Iterator<Item = (&'static PlanTensor<'static>, View)>,
) -> Result<T::Buffer, Error> {
    let needed = buffer_type.alignment();
    if !plan.align.is_multiple_of(needed) {
        return Err(ErrorKind::AlignmentTooSmall { needed, planned: plan.align }.into());
    }
    if size > buffer_type.max_size() {
        return Err(ErrorKind::TooLarge { needed: size, max: buffer_type.max_size() }.into());
    }
    for (tensor, view) in tensors {
        let needed = buffer_type.alloc_size(&view);
        let planned = view.span().len().next_multiple_of(plan.align);
        let end = view.offset.saturating_add(needed);
        if needed > planned || (needed > view.span().len() && end > size) {
            return Err(ErrorKind::SlotTooSmall { tensor: tensor.name, needed, planned }.into());
        }
    }
    buffer_type.allocate(size, plan.align, usage)
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
    for tensor in plan.tensors.iter().filter(|tensor| tensor.role.is_persistent() && is_within(plan, &tensor.view)) {
        buffer.init_tensor(&tensor.view)?;
    }
    Ok(buffer)
}

/// True for a tensor of the model's own buffer. Shared weights count as behind it, also where they have no bytes at all.
fn is_within(plan: &Plan<'static>, view: &View) -> bool {
    !plan.is_shared(view) && view.offset <= plan.size
}

/// Writes a constant.
pub fn set<B: Buffer, T: Pod>(buffer: &mut B, offset: usize, value: &T) -> Result<(), Error> {
    buffer.set(offset, bytemuck::bytes_of(value))
}

/// Has a function write a constant: in place on host memory.
pub fn fill<B: Buffer, T: Array>(buffer: &mut B, offset: usize, fill: fn(&mut T)) -> Result<(), Error> {
    buffer.with_host(offset, size_of::<T>(), &mut |bytes| fill(bytemuck::from_bytes_mut(bytes)))
}

/// Fills weights from a source: first everything is looked at, then everything is written. When that fails half-way, `half`
/// says so.
pub fn load<B: Buffer, S: WeightSource + ?Sized>(
    buffer: &mut B,
    half: &mut Half,
    plan: &Plan<'static>,
    weights: &[(usize, &'static str)],
    source: &S,
) -> Result<(), Error> {
    load_at((buffer, 0), half, plan, weights, source)
}

/// As [`load`], into a buffer whose first byte counts as offset `start`.
pub(crate) fn load_at<B: Buffer, S: WeightSource + ?Sized>(
    (buffer, start): (&mut B, usize),
    half: &mut Half,
    plan: &Plan<'static>,
    weights: &[(usize, &'static str)],
    source: &S,
) -> Result<(), Error> {
    crate::weights::check(plan, weights, source)?;
    for (tensor, name) in weights {
        let view = &plan.tensors[*tensor].view;
        // A source that answers otherwise the second time is not believed.
        match source.find(name)? {
            Some(weight) if crate::weights::fits(view, &weight, source.converts()) => {
                let before = core::mem::replace(half, Half::ANY);
                if let Err(error) = crate::weights::set(buffer, view.offset - start, view, &weight) {
                    if wrote_nothing(&error) {
                        *half = before;
                    }
                    return Err(error);
                }
            }
            _ => return crate::weights::check(plan, &[(*tensor, *name)], source).and(Err(changed(name))),
        }
    }
    *half = Half::NONE;
    Ok(())
}

fn changed(name: &'static str) -> Error {
    crate::weights::Complaints { count: 1, first: name, ..Default::default() }.into()
}
