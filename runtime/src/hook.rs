//! What can happen between two steps: nothing, an observer, or the destruction of every byte that should not matter.

use core::ops::Range;

use crate::open::Places;
use crate::{Buffer, Error, HostBuffer, Plan, PlanStep, PlanTensor, Storage, View};

/// Something that is called before the first step and after each. Three kinds implement it: `()`, [`Observer`] and
/// [`Poison`].
pub trait Hook<B>: sealed::Sealed {
    /// Called when the inputs are there and nothing has run.
    fn before(&mut self, buffer: &mut B, plan: &Plan<'static>) -> Result<(), Error> {
        self.before_at(buffer, plan, Places::FIXED)
    }

    /// Called after a step.
    fn after(&mut self, buffer: &mut B, plan: &Plan<'static>, step: usize) -> Result<(), Error> {
        self.after_at(buffer, plan, Places::FIXED, step)
    }

    /// As [`Hook::before`], in a model with open dims.
    #[doc(hidden)]
    fn before_at(&mut self, buffer: &mut B, plan: &Plan<'static>, places: Places<'_>) -> Result<(), Error>;

    /// As [`Hook::after`], in a model with open dims.
    #[doc(hidden)]
    fn after_at(&mut self, buffer: &mut B, plan: &Plan<'static>, places: Places<'_>, step: usize) -> Result<(), Error>;
}

mod sealed {
    /// Hooks are handed the buffer itself, so only this crate makes them.
    pub trait Sealed {}
    impl Sealed for () {}
    impl<F> Sealed for super::Observer<F> {}
    impl Sealed for super::Poison {}
}

impl<B> Hook<B> for () {
    #[inline]
    fn before_at(&mut self, _: &mut B, _: &Plan<'static>, _: Places<'_>) -> Result<(), Error> {
        Ok(())
    }

    #[inline]
    fn after_at(&mut self, _: &mut B, _: &Plan<'static>, _: Places<'_>, _: usize) -> Result<(), Error> {
        Ok(())
    }
}

/// Calls a function with what there is to see: once before the first step, then after each.
#[derive(Clone, Copy, Debug)]
pub struct Observer<F>(pub F);

/// A look into a running model.
#[derive(Clone, Copy)]
pub struct Moment<'a> {
    plan: &'a Plan<'static>,
    places: Places<'a>,
    buffer: &'a dyn Buffer,
    /// The step that has just run; none before the first.
    step: Option<usize>,
}

/// A tensor that holds its value at this moment.
pub struct Live<'a> {
    /// Its line in the plan. The view there is that for the largest values of open dims.
    pub info: &'a PlanTensor<'static>,
    /// Where its elements lie in this forward.
    pub view: &'a View,
    buffer: &'a dyn Buffer,
    /// The offset that the buffer's first byte counts as.
    start: usize,
}

impl<'a> Moment<'a> {
    /// The step that has just run, counted from 0; none before the first.
    pub fn index(&self) -> Option<usize> {
        self.step
    }

    /// The step that has just run.
    pub fn step(&self) -> Option<&'a PlanStep<'static>> {
        self.step.map(|step| &self.plan.steps[step])
    }

    /// The model's plan.
    pub fn plan(&self) -> &'a Plan<'static> {
        self.plan
    }

    /// What the step has just written.
    pub fn outputs(&self) -> impl Iterator<Item = Live<'a>> {
        let Moment { plan, .. } = *self;
        let outputs = self.step.map_or(&[][..], |step| plan.steps[step].outputs);
        let look = self.look();
        outputs.iter().copied().map(look)
    }

    /// Every tensor that holds its value now: read at a later step, or readable after forward, or just written.
    pub fn live(&self) -> impl Iterator<Item = Live<'a>> {
        let (Moment { plan, .. }, look) = (*self, self.look());
        let moment = self.step.map_or(0, |step| step + 1);
        plan.tensors
            .iter()
            .enumerate()
            .filter(move |(index, tensor)| is_live(plan, moment, *index, tensor))
            .map(move |(index, _)| look(index))
    }

    /// A tensor in its buffer.
    fn look(&self) -> impl Fn(usize) -> Live<'a> + use<'a> {
        let Moment { plan, places, buffer, .. } = *self;
        move |tensor| {
            let view = places.view(plan, tensor);
            let shared = places.shared.filter(|shared| shared.holds(view));
            let (buffer, start) = shared.map_or((buffer, 0), |shared| (shared.buffer, shared.start));
            Live { info: &plan.tensors[tensor], view, buffer, start }
        }
    }

    /// The live tensor of that name.
    pub fn tensor(&self, name: &str) -> Option<Live<'a>> {
        self.live().find(|tensor| tensor.info.name == name)
    }
}

/// A tensor is live after its step if it was just written or something later needs it.
fn is_live(plan: &Plan<'static>, moment: usize, index: usize, tensor: &PlanTensor<'static>) -> bool {
    let written = moment > 0 && plan.steps[moment - 1].outputs.contains(&index);
    (written || moment == 0 || tensor.last > moment) && tensor.first <= moment && made(plan, index) <= moment
}

/// The moment from which a tensor holds this run's value: that of its step, of what it is a view of, or of its last
/// part. Kept tensors have bytes of their own before.
fn made(plan: &Plan<'static>, index: usize) -> usize {
    if let Some(step) = plan.steps.iter().position(|step| step.outputs.contains(&index)) {
        return step + 1;
    }
    match plan.tensors[index].storage {
        Storage::View(of) => made(plan, of),
        _ => {
            let part = |tensor: &usize| plan.tensors[*tensor].storage == Storage::Part(index);
            (0..plan.tensors.len()).filter(part).map(|part| made(plan, part)).max().unwrap_or(0)
        }
    }
}

impl Live<'_> {
    /// Copies the elements' bytes out in row-major order, wherever and however strided they lie.
    ///
    /// # Errors
    /// [`crate::ErrorKind::Length`] when `out` has another number of bytes than the elements.
    pub fn read(&self, out: &mut [u8]) -> Result<(), Error> {
        read_view(self.buffer, &self.within(), out)
    }

    /// Its place in its buffer.
    fn within(&self) -> View {
        View { offset: self.view.offset - self.start, ..*self.view }
    }

    /// The `f32` elements in place, when the tensor has such, packed, in host memory.
    pub fn as_f32(&self) -> Option<&[f32]> {
        if self.view.dtype != crate::DType::F32 || !self.view.is_packed() {
            return None;
        }
        let bytes = self.buffer.host_bytes()?.get(self.within().span())?;
        bytemuck::try_cast_slice(bytes).ok()
    }
}

impl<B: Buffer, F: FnMut(&Moment<'_>)> Hook<B> for Observer<F> {
    fn before_at(&mut self, buffer: &mut B, plan: &Plan<'static>, places: Places<'_>) -> Result<(), Error> {
        (self.0)(&Moment { plan, places, buffer, step: None });
        Ok(())
    }

    fn after_at(&mut self, buffer: &mut B, plan: &Plan<'static>, places: Places<'_>, step: usize) -> Result<(), Error> {
        (self.0)(&Moment { plan, places, buffer, step: Some(step) });
        Ok(())
    }
}

/// Overwrites, between the steps, every byte that belongs to no live tensor, those behind the elements that a tensor with
/// open extents has among them. A plan that is right and kernels that read
/// only their operands give the same bits with it as without.
#[derive(Clone, Copy, Debug)]
pub struct Poison {
    /// What the bytes are overwritten with; `0xff` makes NaNs.
    pub byte: u8,
}

impl Default for Poison {
    fn default() -> Poison {
        Poison { byte: 0xff }
    }
}

impl<B: HostBuffer> Hook<B> for Poison {
    fn before_at(&mut self, buffer: &mut B, plan: &Plan<'static>, places: Places<'_>) -> Result<(), Error> {
        self.fill_at(buffer.bytes_mut(), plan, places, 0);
        Ok(())
    }

    fn after_at(&mut self, buffer: &mut B, plan: &Plan<'static>, places: Places<'_>, step: usize) -> Result<(), Error> {
        self.fill_at(buffer.bytes_mut(), plan, places, step + 1);
        Ok(())
    }
}

impl Poison {
    /// Overwrites what is dead after that moment: 0 when the inputs are there and nothing has run, `k` when `k` steps
    /// have. `bytes` is the whole buffer, and the plan's tensors lie as it says: with open dims, those of the bounds.
    ///
    /// # Panics
    /// When `bytes` are fewer than the plan's size.
    pub fn fill(&self, bytes: &mut [u8], plan: &Plan<'_>, moment: usize) {
        self.fill_at(bytes, plan, Places::FIXED, moment);
    }

    /// As [`Poison::fill`], with what lies behind the elements that there are for the values of the open dims.
    fn fill_at(&self, bytes: &mut [u8], plan: &Plan<'_>, places: Places<'_>, moment: usize) {
        let live = |index: &usize| {
            let tensor = &plan.tensors[*index];
            // A part of a concatenation is needed as long as the whole, and its lifetime says so.
            tensor.first <= moment && tensor.last > moment
        };
        let mut at = 0;
        while at < plan.size {
            let spans = || (0..plan.tensors.len()).filter(live).map(|index| places.view(plan, index).span());
            let covered = spans().filter(|span| span.contains(&at)).map(|span| span.end).max();
            at = match covered {
                Some(end) => end,
                None => {
                    let end = spans().filter(|span| span.start > at && !span.is_empty()).map(|span| span.start).min();
                    let dead: Range<usize> = at..end.unwrap_or(plan.size).min(plan.size);
                    bytes[dead.clone()].fill(self.byte);
                    dead.end
                }
            };
        }
    }
}

/// Copies a view's elements out in row-major order, each run of neighbours at once.
pub fn read_view(buffer: &dyn Buffer, view: &View, out: &mut [u8]) -> Result<(), Error> {
    check_bytes(view, out.len())?;
    let mut rest = out;
    for_each_run(view, &mut |offset, len| {
        let (run, more) = core::mem::take(&mut rest).split_at_mut(len);
        rest = more;
        buffer.get(offset, run)
    })
}

/// Copies elements in row-major order into a view, each to its own place. What lies between them stays.
pub fn write_view(buffer: &mut dyn Buffer, view: &View, data: &[u8]) -> Result<(), Error> {
    check_bytes(view, data.len())?;
    crate::buffer::check_range(view.span().start, view.span().len(), buffer.size())?;
    let mut rest = data;
    for_each_run(view, &mut |offset, len| {
        let (run, more) = rest.split_at(len);
        rest = more;
        buffer.set(offset, run)
    })
}

fn check_bytes(view: &View, given: usize) -> Result<(), Error> {
    let expected = view.blocks() * view.dtype.size();
    if given == expected { Ok(()) } else { Err(crate::ErrorKind::Length { expected, given }.into()) }
}

/// Calls `visit` with offset and length in bytes of every run of neighbouring elements, in row-major order.
fn for_each_run(view: &View, visit: &mut dyn FnMut(usize, usize) -> Result<(), Error>) -> Result<(), Error> {
    let element = view.dtype.size();
    if view.elements() == 0 {
        return Ok(());
    }
    if view.is_packed() || view.dtype.is_quantised() {
        return visit(view.offset, view.blocks() * element);
    }
    let inner = view.rank - 1;
    let (outer, run) = if view.strides[inner] == 1 { (inner, view.dims[inner]) } else { (view.rank, 1) };
    let mut index = [0; crate::MAX_RANK];
    loop {
        let start: usize = (0..outer).map(|axis| index[axis] * view.strides[axis]).sum();
        visit(view.offset + start * element, run * element)?;
        let Some(axis) = (0..outer).rev().find(|axis| index[*axis] + 1 < view.dims[*axis]) else { return Ok(()) };
        index[axis] += 1;
        index[axis + 1..outer].fill(0);
    }
}
