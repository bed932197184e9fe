//! Offsets: what always lives at the start of the buffer, one after the other; above it the transient tensors where the
//! solver puts them. Weights that are shared come behind all that, at offsets that the buffer does not have.

use alloc::collections::BTreeSet;
use alloc::vec;
use alloc::vec::Vec;
use core::ops::Range;

use super::lifetime::Lifetime;
use super::lower::Lowered;
use super::{Options, PlanError, Planned, PlannedStep, PlannedTensor};
use crate::Role;
use crate::graph::Graph;
use crate::offset::{self, Buffer, Part};

/// Places every storage and puts the plan together, if it is smaller than `below`.
pub(super) fn place(
    graph: &Graph,
    lowered: Lowered,
    lifetimes: Vec<Lifetime>,
    options: &Options,
    below: Option<usize>,
) -> Result<Option<Planned>, PlanError> {
    let end = lowered.steps.len() + 1;
    let Storages { mut offsets, top, transient, mut buffers, weights, shared } =
        storages(&lowered, &lifetimes, options)?;
    let mut size = top;
    let persistent = top;
    let enough = |size: usize| below.is_some_and(|below| size >= below);
    let bound = offset::lower_bound(&buffers);
    if enough(top) || enough(top.saturating_add(bound)) {
        return Ok(None);
    }
    let exact = buffers.clone();
    buffers.iter_mut().for_each(coarsen);
    let coarser = exact != buffers;
    let (mut lower_bound, mut optimal) = (persistent, true);
    if !buffers.is_empty() {
        let solution = offset::solve(&buffers, options.budget).map_err(|_| PlanError::TooLarge)?;
        let base = if solution.peak == 0 {
            top
        } else {
            top.checked_next_multiple_of(options.align).ok_or(PlanError::TooLarge)?
        };
        for ((root, offset), buffer) in transient.iter().zip(&solution.offsets).zip(&buffers) {
            // What has no bytes may be anywhere that is aligned, the buffer's start among it.
            offsets[*root] = if buffer.size == 0 { 0 } else { base.checked_add(*offset).ok_or(PlanError::TooLarge)? };
        }
        size = size.max(base.checked_add(solution.peak).ok_or(PlanError::TooLarge)?);
        lower_bound = lower_bound.max(base.saturating_add(bound));
        // What was proved of coarser shapes says nothing of the exact ones, unless the bound is met.
        optimal = solution.peak <= bound || (solution.optimal && !coarser);
    }
    if enough(size) {
        return Ok(None);
    }
    let start = size.checked_next_multiple_of(options.align).ok_or(PlanError::TooLarge)?;
    weights.iter().for_each(|root| offsets[*root] = start.saturating_add(offsets[*root]));
    let end_of_all = if shared > 0 { start.checked_add(shared).ok_or(PlanError::TooLarge)? } else { size };
    if isize::try_from(end_of_all).is_err() {
        return Err(PlanError::TooLarge);
    }
    let steps = lowered
        .steps
        .into_iter()
        .map(|step| PlannedStep {
            op: step.op,
            inputs: step.inputs,
            outputs: vec![step.output],
            scratch: step.scratch.into_iter().collect(),
        })
        .collect();
    let tensors = lowered
        .tensors
        .into_iter()
        .zip(lifetimes)
        .map(|(tensor, lifetime)| {
            let mut view = tensor.view.view;
            view.offset += offsets[tensor.root];
            let last = lifetime.last.min(end);
            PlannedTensor {
                name: tensor.name,
                role: tensor.role,
                view,
                first: lifetime.first,
                last,
                storage: tensor.storage,
                ty: tensor.ty,
                how: tensor.how,
            }
        })
        .collect();
    Ok(Some(Planned {
        model: graph.name.clone(),
        size,
        align: options.align,
        lower_bound,
        optimal,
        persistent,
        shared,
        tensors,
        steps,
        saved: Vec::new(),
        index: lowered.index,
        open: graph.open_dims().to_vec(),
    }))
}

/// What has to be placed.
struct Storages {
    /// For each tensor that has storage of its own, where that is; found already for what always lives.
    offsets: Vec<usize>,
    /// Where what always lives ends.
    top: usize,
    /// The other tensors with storage of their own, and what that occupies.
    transient: Vec<usize>,
    buffers: Vec<Buffer>,
    /// The weights that are shared, whose offsets count from the start of their own buffer.
    weights: Vec<usize>,
    /// Where that buffer ends.
    shared: usize,
}

fn storages(lowered: &Lowered, lifetimes: &[Lifetime], options: &Options) -> Result<Storages, PlanError> {
    let align = options.align;
    let tensors = &lowered.tensors;
    let mut members: Vec<Vec<usize>> = vec![Vec::new(); tensors.len()];
    for (index, tensor) in tensors.iter().enumerate() {
        members[tensor.root].push(index);
    }
    let mut found = Storages {
        offsets: vec![0; tensors.len()],
        top: 0,
        transient: Vec::new(),
        buffers: Vec::new(),
        weights: Vec::new(),
        shared: 0,
    };
    for (root, members) in members.iter().enumerate() {
        if members.is_empty() {
            continue;
        }
        let bytes = members.iter().map(|member| tensors[*member].view.span().end).max().unwrap_or(0);
        if options.shared_weights && tensors[root].role == Role::Weight {
            found.offsets[root] = found.shared.checked_next_multiple_of(align).ok_or(PlanError::TooLarge)?;
            found.shared = found.offsets[root].checked_add(bytes).ok_or(PlanError::TooLarge)?;
            found.weights.push(root);
        } else if members.iter().any(|member| tensors[*member].role.is_persistent()) {
            found.offsets[root] = found.top.checked_next_multiple_of(align).ok_or(PlanError::TooLarge)?;
            found.top = found.offsets[root].checked_add(bytes).ok_or(PlanError::TooLarge)?;
        } else {
            found.transient.push(root);
            found.buffers.push(occupancy(tensors, lifetimes, members, bytes, align));
        }
    }
    Ok(found)
}

/// The least that this lowering can need.
pub(super) fn bound(lowered: &Lowered, lifetimes: &[Lifetime], options: &Options) -> Result<usize, PlanError> {
    let found = storages(lowered, lifetimes, options)?;
    let base = found.top.checked_next_multiple_of(options.align).ok_or(PlanError::TooLarge)?;
    let bound = offset::lower_bound(&found.buffers);
    Ok(if bound == 0 { found.top } else { base.saturating_add(bound) })
}

/// What a storage occupies over time: a rectangle, unless its members come and go.
fn occupancy(
    tensors: &[super::lower::Tensor],
    lifetimes: &[Lifetime],
    members: &[usize],
    size: usize,
    align: usize,
) -> Buffer {
    let first = members.iter().map(|member| lifetimes[*member].first).min().unwrap_or(0);
    let last = members.iter().map(|member| lifetimes[*member].last).max().unwrap_or(0);
    let mut parts: Vec<Part> = Vec::new();
    if members.len() > 1 {
        // The hull of the live members changes only where one begins or ends.
        let mut events: Vec<(usize, bool, usize)> = Vec::with_capacity(2 * members.len());
        let spans: Vec<Range<usize>> = members.iter().map(|member| tensors[*member].view.span()).collect();
        for (index, member) in members.iter().enumerate().filter(|(index, _)| !spans[*index].is_empty()) {
            events.push((lifetimes[*member].first, true, index));
            events.push((lifetimes[*member].last + 1, false, index));
        }
        events.sort_unstable();
        let (mut starts, mut ends) = (BTreeSet::new(), BTreeSet::new());
        for (at, (moment, begins, index)) in events.iter().enumerate() {
            let (start, end) = ((spans[*index].start, *index), (spans[*index].end, *index));
            if *begins {
                starts.insert(start);
                ends.insert(end);
            } else {
                starts.remove(&start);
                ends.remove(&end);
            }
            let (Some((start, _)), Some((end, _))) = (starts.first(), ends.last()) else { continue };
            let Some(until) = events.get(at + 1).map(|event| event.0).filter(|until| until > moment) else { continue };
            match parts.last_mut() {
                Some(part) if part.upper == *moment && part.start == *start && part.end == *end => part.upper = until,
                _ => parts.push(Part { lower: *moment, upper: until, start: *start, end: *end }),
            }
        }
        let whole = |part: &Part| part.lower == first && part.upper == last + 1 && part.start == 0 && part.end == size;
        if matches!(parts.as_slice(), [only] if whole(only)) {
            parts.clear();
        }
    }
    Buffer { lower: first, upper: last + 1, size, align, parts }
}

/// Makes a shape easier to place, which then holds a little more than its members need. Parts begin and end at multiples
/// of the alignment, as whatever lies beside them does. The solver's work grows with the square of a shape's rectangles:
/// beyond some, neighbours in time are taken together.
fn coarsen(buffer: &mut Buffer) {
    const MOST: usize = 64;
    for part in &mut buffer.parts {
        part.start -= part.start % buffer.align;
        part.end = part.end.checked_next_multiple_of(buffer.align).map_or(buffer.size, |end| end.min(buffer.size));
    }
    buffer.parts.dedup_by(|next, part| {
        let same = part.upper == next.lower && (part.start, part.end) == (next.start, next.end);
        if same {
            part.upper = next.upper;
        }
        same
    });
    if matches!(buffer.parts.as_slice(), [part] if part.lower == buffer.lower && part.upper == buffer.upper && part.start == 0 && part.end == buffer.size)
    {
        buffer.parts.clear();
    }
    while buffer.parts.len() > MOST {
        let together = |pair: &[Part]| {
            pair.iter().copied().reduce(|a, b| Part {
                lower: a.lower,
                upper: b.upper,
                start: a.start.min(b.start),
                end: a.end.max(b.end),
            })
        };
        buffer.parts = buffer.parts.chunks(2).filter_map(together).collect();
    }
}
