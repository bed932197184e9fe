//! The checker: takes a finished plan and nothing else, and makes sure that every value is still there when it is read.
//! It shares no code with the passes and is plain on purpose.

mod meeting;
mod open;
mod shared;
mod state;
mod values;

use alloc::string::{String, ToString};
use alloc::vec;
use alloc::vec::Vec;
use core::fmt;

use self::meeting::{Meeting, for_each_meeting};
pub(super) use self::open::check_open;
use self::shared::{check_shared, is_shared_weight};
use self::state::{is_of_state, next_versions};
use super::bytes::{overlap, unsound, within};
use crate::{Plan, PlanTensor, Role, Storage, View};

/// What is wrong with a plan.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// In words, with the tensors' names.
    pub what: String,
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.what)
    }
}

macro_rules! fault {
    ($($text:tt)*) => { return Err($crate::Fault { what: alloc::format!($($text)*) }) };
}
pub(super) use fault;

/// Checks a plan.
///
/// # Errors
/// The first fault that is found.
pub fn check(plan: &Plan<'_>) -> Result<(), Fault> {
    check_indices(plan)?;
    check_places(plan)?;
    check_shared(plan)?;
    check_scratch(plan)?;
    check_sources(plan)?;
    let times = Times::of(plan)?;
    check_leaves(plan)?;
    for (tensor, (defined, needed)) in plan.tensors.iter().zip(times.defined.iter().zip(&times.needed)) {
        if tensor.first > *defined || (tensor.last < *needed) {
            fault!(
                "`{}` is said to count from {} to {} and does from {defined} to {needed}",
                tensor.name,
                tensor.first,
                tensor.last
            );
        }
    }
    for (index, step) in plan.steps.iter().enumerate() {
        if let Some(input) = step.inputs.iter().find(|input| times.defined[**input] > index) {
            fault!("step {index} reads `{}` before it is written", plan.tensors[*input].name);
        }
    }
    let spans = plan.tensors.iter().map(|tensor| tensor.view.span()).collect();
    for_each_meeting(plan, &times, spans, &mut |meeting| {
        let (write, other) = (&plan.tensors[meeting.write].view, &plan.tensors[meeting.other].view);
        check_write(plan, &times, meeting, &|| overlap(write, other), &|| write.same_elements(other))
    })
}

/// When each tensor has its value: the moment from which it does, 0 when it comes from outside, and the last one at which
/// its bytes have to be there.
struct Times {
    defined: Vec<usize>,
    needed: Vec<usize>,
}

impl Times {
    fn of(plan: &Plan<'_>) -> Result<Times, Fault> {
        let next = next_versions(plan)?;
        let defined = defined(plan)?;
        let needed = needed(plan, &defined, &next);
        Ok(Times { defined, needed })
    }
}

/// Every index names a tensor, and storages are not those of one another in a circle.
fn check_indices(plan: &Plan<'_>) -> Result<(), Fault> {
    let count = plan.tensors.len();
    for (index, step) in plan.steps.iter().enumerate() {
        if step.inputs.iter().chain(step.outputs).chain(step.scratch).any(|tensor| *tensor >= count) {
            fault!("step {index} names a tensor that is not there");
        }
    }
    // A walk ends where another one came to an end: chains are as long as there are tensors.
    let mut ends = vec![false; count];
    for (index, tensor) in plan.tensors.iter().enumerate() {
        let mut walk = Vec::new();
        let mut at = index;
        while !ends[at] {
            walk.push(at);
            let (Storage::View(of) | Storage::InPlace(of) | Storage::Part(of)) = plan.tensors[at].storage else {
                break;
            };
            if of >= count || walk.len() > count {
                fault!("`{}` has the bytes of a tensor that has none of its own", tensor.name);
            }
            at = of;
        }
        walk.into_iter().for_each(|at| ends[at] = true);
    }
    Ok(())
}

/// Working space is its step's alone: nothing that is written there is a value that others read.
fn check_scratch(plan: &Plan<'_>) -> Result<(), Fault> {
    let is_scratch = |tensor: &usize| plan.tensors[*tensor].role == Role::Scratch;
    for (index, step) in plan.steps.iter().enumerate() {
        if step.inputs.iter().chain(step.outputs).any(is_scratch) || !step.scratch.iter().all(is_scratch) {
            fault!("step {index} takes working space for a value or a value for working space");
        }
    }
    for tensor in plan.tensors {
        if let Storage::View(of) | Storage::InPlace(of) | Storage::Part(of) = tensor.storage
            && (tensor.role == Role::Scratch || is_scratch(&of))
        {
            fault!("`{}` shares bytes with `{}`, and one of them is working space", tensor.name, plan.tensors[of].name);
        }
    }
    Ok(())
}

/// Every element of a tensor comes from somewhere: from outside, from a step, from what it is a view of, or from exactly
/// one of its parts.
fn check_sources(plan: &Plan<'_>) -> Result<(), Fault> {
    let mut written = vec![false; plan.tensors.len()];
    for step in plan.steps {
        step.outputs.iter().for_each(|tensor| written[*tensor] = true);
    }
    let mut parts: Vec<Vec<View>> = vec![Vec::new(); plan.tensors.len()];
    for tensor in plan.tensors {
        if let Storage::Part(whole) = tensor.storage
            && tensor.view.elements() > 0
        {
            parts[whole].push(tensor.view);
        }
    }
    for (index, tensor) in plan.tensors.iter().enumerate() {
        let state = tensor.role == Role::State && tensor.storage == Storage::Own;
        let outside = state || matches!(tensor.role, Role::Input | Role::KeptInput | Role::Weight | Role::Constant);
        let elements = tensor.view.elements();
        match tensor.storage {
            _ if outside && (written[index] || tensor.storage != Storage::Own) => {
                fault!("`{}` comes from outside and has bytes that others write", tensor.name)
            }
            _ if (written[index] || outside) && !parts[index].is_empty() => {
                fault!("`{}` is written whole and has parts", tensor.name)
            }
            _ if written[index] || outside || elements == 0 || tensor.role == Role::Scratch => {}
            Storage::View(of) if plan.tensors[of].view.is_packed() || within(&tensor.view, &plan.tensors[of].view) => {}
            Storage::View(of) => {
                fault!("`{}` has elements that `{}` does not have", tensor.name, plan.tensors[of].name)
            }
            _ if !side_by_side(&tensor.view, &mut parts[index]) => {
                fault!("nothing writes every element of `{}` once", tensor.name)
            }
            _ => {}
        }
    }
    Ok(())
}

/// True when the parts, which are not empty, follow one another along one axis of the whole and fill it.
fn side_by_side(whole: &View, parts: &mut [View]) -> bool {
    let Some(first) = parts.first() else { return false };
    let axis = (0..whole.rank).find(|axis| first.dims[*axis] != whole.dims[*axis]).unwrap_or(0);
    parts.sort_by_key(|part| part.offset);
    let mut rest = *whole;
    for part in parts {
        let mut place = rest;
        place.dims[axis] = part.dims[axis];
        if !place.same_elements(part) || part.dims[axis] > rest.dims[axis] {
            return false;
        }
        // The stride of an extent of one is never used and may be anything.
        let past = part.dims[axis].saturating_mul(whole.strides[axis]).saturating_mul(whole.dtype.size());
        rest.offset = rest.offset.saturating_add(past);
        rest.dims[axis] -= part.dims[axis];
    }
    rest.dims[axis] == 0 || whole.rank == 0
}

/// Every tensor lies inside the buffer, at a multiple of its element's size, its storage at a multiple of the plan's
/// alignment, and views inside what they view.
fn check_places(plan: &Plan<'_>) -> Result<(), Fault> {
    if !plan.align.is_power_of_two() {
        fault!("the alignment {} is no power of two", plan.align);
    }
    if isize::try_from(plan.size).is_err() {
        fault!("no buffer is of {} bytes", plan.size);
    }
    if let Some((tensor, what)) = plan.tensors.iter().find_map(|tensor| Some((tensor, unsound(&tensor.view)?))) {
        fault!("`{}` {what}", tensor.name);
    }
    for (index, tensor) in plan.tensors.iter().enumerate() {
        let span = tensor.view.span();
        if span.end > plan.size && !is_shared_weight(plan, index) {
            fault!("`{}` ends at {} in a buffer of {}", tensor.name, span.end, plan.size);
        }
        if !tensor.view.offset.is_multiple_of(tensor.view.dtype.align()) {
            fault!("`{}` starts at {}, within an element", tensor.name, span.start);
        }
        match tensor.storage {
            Storage::Own if !span.start.is_multiple_of(plan.align) => {
                fault!("`{}` starts at {}, which is no multiple of {}", tensor.name, span.start, plan.align)
            }
            Storage::Own => {}
            Storage::View(of) | Storage::InPlace(of) | Storage::Part(of) => {
                let outer = plan.tensors[of].view.span();
                if !span.is_empty() && (span.start < outer.start || span.end > outer.end) {
                    fault!("`{}` reaches beyond `{}`, whose bytes it has", tensor.name, plan.tensors[of].name);
                }
                // What a step writes over an operand is new; a view and a whole have the elements that were written.
                let (own, theirs) = (tensor.view.dtype, plan.tensors[of].view.dtype);
                if own != theirs && !matches!(tensor.storage, Storage::InPlace(_)) {
                    fault!("`{}` takes the {theirs} elements of `{}` for {own}", tensor.name, plan.tensors[of].name);
                }
            }
        }
    }
    Ok(())
}

/// The moment at which each tensor has its value: 0 when it comes from outside.
fn defined(plan: &Plan<'_>) -> Result<Vec<usize>, Fault> {
    let mut written = vec![None; plan.tensors.len()];
    for (index, step) in plan.steps.iter().enumerate() {
        for output in step.outputs.iter().chain(step.scratch) {
            if written[*output].replace(index + 1).is_some() {
                fault!("`{}` is written twice", plan.tensors[*output].name);
            }
        }
    }
    let mut defined: Vec<usize> = written.iter().map(|moment| moment.unwrap_or(0)).collect();
    // Views take over the moment of what they view, wholes that of their last part. A chain of them is no longer than
    // there are tensors.
    for round in 0.. {
        let mut changed = false;
        for (index, tensor) in plan.tensors.iter().enumerate() {
            let (target, moment) = match tensor.storage {
                Storage::View(of) => (index, defined[of]),
                Storage::Part(whole) => (whole, defined[index]),
                _ => continue,
            };
            if defined[target] < moment {
                defined[target] = moment;
                changed = true;
            }
        }
        if !changed {
            break;
        }
        if round > plan.tensors.len() {
            fault!("tensors are views of one another in a circle");
        }
    }
    Ok(defined)
}

/// The last moment at which each tensor's bytes have to be there.
fn needed(plan: &Plan<'_>, defined: &[usize], next: &[Option<usize>]) -> Vec<usize> {
    let mut needed = defined.to_vec();
    for (index, step) in plan.steps.iter().enumerate() {
        for input in step.inputs {
            needed[*input] = needed[*input].max(index + 1);
        }
    }
    for ((needed, tensor), next) in needed.iter_mut().zip(plan.tensors).zip(next) {
        // Of a state the next forward reads the last version; the others are there for their readers.
        if tensor.role == Role::Output || tensor.role.is_persistent() && next.is_none() {
            *needed = plan.end();
        }
    }
    // A part is there as long as the whole is; nested concatenations take as many rounds as they are deep.
    loop {
        let mut changed = false;
        for (index, tensor) in plan.tensors.iter().enumerate().rev() {
            if let Storage::Part(whole) = tensor.storage
                && needed[index] < needed[whole]
            {
                needed[index] = needed[whole];
                changed = true;
            }
        }
        if !changed {
            return needed;
        }
    }
}

/// What comes from outside is there at once, and what is kept is there when inputs are written again.
fn check_leaves(plan: &Plan<'_>) -> Result<(), Fault> {
    let outside = |tensor: &&PlanTensor<'_>| {
        matches!(tensor.role, Role::Input | Role::KeptInput | Role::Weight | Role::Constant | Role::KeptNode)
            && !matches!(tensor.storage, Storage::View(_))
            || tensor.role == Role::State && tensor.storage == Storage::Own
    };
    let mut leaves: Vec<&PlanTensor<'_>> = plan.tensors.iter().filter(outside).collect();
    leaves.sort_by_key(|tensor| tensor.view.offset);
    for (index, left) in leaves.iter().enumerate() {
        let end = left.view.span().end;
        for right in leaves[index + 1..].iter().take_while(|right| right.view.offset < end) {
            if overlap(&left.view, &right.view) {
                fault!("`{}` and `{}` overlap and are there at the same time", left.name, right.name);
            }
        }
    }
    for kept in plan.tensors.iter().filter(|tensor| tensor.role == Role::KeptNode) {
        for input in plan.tensors.iter().filter(|tensor| matches!(tensor.role, Role::Input | Role::State)) {
            if overlap(&kept.view, &input.view) {
                let what = input.role.name();
                fault!("`{}` is to be kept and writing {what} `{}` would overwrite it", kept.name, input.name);
            }
        }
    }
    Ok(())
}

/// A tensor that is needed at this step or later is not written over. `meet` says whether the two share a byte and `same`
/// whether they are the same elements.
fn check_write(
    plan: &Plan<'_>,
    times: &Times,
    Meeting { step, write, other: index }: Meeting,
    meet: &dyn Fn() -> bool,
    same: &dyn Fn() -> bool,
) -> Result<(), Fault> {
    let moment = step + 1;
    let (defined, needed) = (times.defined[index], times.needed[index]);
    let (target, tensor) = (&plan.tensors[write], &plan.tensors[index]);
    if tensor.role == Role::State && !is_of_state(plan, write) && meet() {
        fault!("step {step} writes `{}` over the state `{}` and is no version of it", target.name, tensor.name);
    }
    // Parts of one whole were found side by side.
    let siblings = matches!((target.storage, tensor.storage), (Storage::Part(a), Storage::Part(b)) if a == b);
    if siblings || defined == moment && derived(plan, index, write) {
        return Ok(());
    }
    if plan.steps[step].inputs.contains(&index) {
        let in_place = || plan.steps[step].outputs.contains(&write) && needed <= moment;
        if meet() && !(in_place() && same()) {
            fault!("step {step} writes `{}` over its operand `{}`", target.name, tensor.name);
        }
    } else if defined < moment && needed > moment && meet() {
        fault!("step {step} writes `{}` over `{}`, which is still needed", target.name, tensor.name);
    } else if defined == moment && meet() {
        fault!("step {step} writes `{}` and `{}` over one another", target.name, tensor.name);
    }
    Ok(())
}

/// True when a tensor has its value because `write` was written: a view of it, or a whole that it is a part of.
fn derived(plan: &Plan<'_>, tensor: usize, write: usize) -> bool {
    let mut steps = 0;
    let mut at = tensor;
    while let Storage::View(of) = plan.tensors[at].storage {
        at = of;
        steps += 1;
        if at == write || steps > plan.tensors.len() {
            return at == write;
        }
    }
    let mut whole = write;
    while let Storage::Part(outer) = plan.tensors[whole].storage {
        whole = outer;
        steps += 1;
        if whole == at || steps > plan.tensors.len() {
            return whole == at;
        }
    }
    false
}

impl From<&str> for Fault {
    fn from(what: &str) -> Fault {
        Fault { what: what.to_string() }
    }
}
