//! The checker: takes a finished plan and nothing else, and makes sure that every value is still there when it is read.
//! It shares no code with the passes, and is quadratic and plain on purpose.

use alloc::string::{String, ToString};
use alloc::vec;
use alloc::vec::Vec;
use core::fmt;

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
    check_sources(plan)?;
    let defined = defined(plan)?;
    let needed = needed(plan, &defined);
    check_leaves(plan)?;
    for (tensor, (defined, needed)) in plan.tensors.iter().zip(defined.iter().zip(&needed)) {
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
        let moment = index + 1;
        for input in step.inputs {
            if defined[*input] >= moment {
                fault!("step {index} reads `{}` before it is written", plan.tensors[*input].name);
            }
        }
        for write in step.outputs.iter().chain(step.scratch) {
            check_write(plan, &defined, &needed, index, *write)?;
        }
    }
    Ok(())
}

/// Every index names a tensor, and storages are not those of one another in a circle.
fn check_indices(plan: &Plan<'_>) -> Result<(), Fault> {
    let count = plan.tensors.len();
    for (index, step) in plan.steps.iter().enumerate() {
        if step.inputs.iter().chain(step.outputs).chain(step.scratch).any(|tensor| *tensor >= count) {
            fault!("step {index} names a tensor that is not there");
        }
    }
    for tensor in plan.tensors {
        let mut at = tensor.storage;
        let mut steps = 0;
        while let Storage::View(of) | Storage::InPlace(of) | Storage::Part(of) = at {
            steps += 1;
            if of >= count || steps > count {
                fault!("`{}` has the bytes of a tensor that has none of its own", tensor.name);
            }
            at = plan.tensors[of].storage;
        }
    }
    Ok(())
}

/// Every element of a tensor comes from somewhere: from outside, from a step, from what it is a view of, or from exactly
/// one of its parts.
fn check_sources(plan: &Plan<'_>) -> Result<(), Fault> {
    let mut written = vec![false; plan.tensors.len()];
    for step in plan.steps {
        step.outputs.iter().chain(step.scratch).for_each(|tensor| written[*tensor] = true);
    }
    let mut parts: Vec<Vec<&PlanTensor<'_>>> = vec![Vec::new(); plan.tensors.len()];
    for tensor in plan.tensors {
        if let Storage::Part(whole) = tensor.storage {
            parts[whole].push(tensor);
        }
    }
    for (index, tensor) in plan.tensors.iter().enumerate() {
        let outside = matches!(tensor.role, Role::Input | Role::KeptInput | Role::Weight | Role::Constant);
        let elements = tensor.view.elements();
        match tensor.storage {
            _ if outside && (written[index] || tensor.storage != Storage::Own) => {
                fault!("`{}` comes from outside and has bytes that others write", tensor.name)
            }
            _ if written[index] || outside || elements == 0 => {}
            Storage::View(of) => {
                if !plan.tensors[of].view.is_packed() && !within(&tensor.view, &plan.tensors[of].view) {
                    fault!("`{}` has elements that `{}` does not have", tensor.name, plan.tensors[of].name);
                }
            }
            _ => {
                let parts = &parts[index];
                let given: usize = parts.iter().map(|part| part.view.elements()).sum();
                let apart =
                    (1..parts.len()).all(|at| parts[..at].iter().all(|other| !overlap(&parts[at].view, &other.view)));
                if given != elements || !apart || !parts.iter().all(|part| within(&part.view, &tensor.view)) {
                    fault!("nothing writes every element of `{}` once", tensor.name);
                }
            }
        }
    }
    Ok(())
}

/// Every tensor lies inside the buffer, at a multiple of its element's size, its storage at a multiple of the plan's
/// alignment, and views inside what they view.
fn check_places(plan: &Plan<'_>) -> Result<(), Fault> {
    if !plan.align.is_power_of_two() {
        fault!("the alignment {} is no power of two", plan.align);
    }
    for tensor in plan.tensors {
        let span = tensor.view.span();
        if span.end > plan.size {
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
fn needed(plan: &Plan<'_>, defined: &[usize]) -> Vec<usize> {
    let mut needed = defined.to_vec();
    for (index, step) in plan.steps.iter().enumerate() {
        for input in step.inputs {
            needed[*input] = needed[*input].max(index + 1);
        }
    }
    for (needed, tensor) in needed.iter_mut().zip(plan.tensors) {
        if tensor.role == Role::Output || tensor.role.is_persistent() {
            *needed = plan.end();
        }
    }
    // A part is there as long as the whole is; nested concatenations take as many rounds as they are deep.
    loop {
        let mut changed = false;
        for (index, tensor) in plan.tensors.iter().enumerate() {
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
    };
    let leaves: Vec<&PlanTensor<'_>> = plan.tensors.iter().filter(outside).collect();
    for (index, left) in leaves.iter().enumerate() {
        for right in &leaves[..index] {
            if overlap(&left.view, &right.view) {
                fault!("`{}` and `{}` overlap and are there at the same time", left.name, right.name);
            }
        }
    }
    for kept in plan.tensors.iter().filter(|tensor| tensor.role == Role::KeptNode) {
        for input in plan.tensors.iter().filter(|tensor| tensor.role == Role::Input) {
            if overlap(&kept.view, &input.view) {
                fault!("`{}` is to be kept and writing input `{}` would overwrite it", kept.name, input.name);
            }
        }
    }
    Ok(())
}

/// Nothing that is needed at this step or later is written over.
fn check_write(plan: &Plan<'_>, defined: &[usize], needed: &[usize], step: usize, write: usize) -> Result<(), Fault> {
    let moment = step + 1;
    let target = &plan.tensors[write];
    for (index, tensor) in plan.tensors.iter().enumerate() {
        if index == write || needed[index] < moment || !overlap(&target.view, &tensor.view) {
            continue;
        }
        if plan.steps[step].inputs.contains(&index) {
            let in_place = plan.steps[step].outputs.contains(&write) && target.view.same_elements(&tensor.view);
            if !in_place || needed[index] > moment {
                fault!("step {step} writes `{}` over its operand `{}`", target.name, tensor.name);
            }
        } else if defined[index] < moment && needed[index] > moment {
            fault!("step {step} writes `{}` over `{}`, which is still needed", target.name, tensor.name);
        } else if defined[index] == moment && !derived(plan, index, write) {
            fault!("step {step} writes `{}` and `{}` over one another", target.name, tensor.name);
        }
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

/// True when two tensors have a byte in common.
pub(super) fn overlap(left: &View, right: &View) -> bool {
    let (a, b) = (left.span(), right.span());
    if a.end <= b.start || b.end <= a.start || a.is_empty() || b.is_empty() {
        return false;
    }
    if left.is_packed() && right.is_packed() {
        return true;
    }
    let mut runs = Vec::new();
    for_each_run(left, &mut |start, end| runs.push((start, end)));
    runs.sort_unstable();
    let mut found = false;
    for_each_run(right, &mut |start, end| {
        let after = runs.partition_point(|run| run.1 <= start);
        found |= runs.get(after).is_some_and(|run| run.0 < end);
    });
    found
}

/// True when every element of a tensor is one of another's, where elements do not overlap in part.
fn within(inner: &View, outer: &View) -> bool {
    let mut runs = Vec::new();
    for_each_run(outer, &mut |start, end| runs.push((start, end)));
    runs.sort_unstable();
    let mut found = true;
    for_each_run(inner, &mut |start, end| {
        let mut at = start;
        // Runs that touch are one.
        for run in &runs[runs.partition_point(|run| run.1 <= start)..] {
            if run.0 > at || at >= end {
                break;
            }
            at = at.max(run.1);
        }
        found &= at >= end;
    });
    found
}

/// Calls `visit` with the bytes of every innermost run.
fn for_each_run(view: &View, visit: &mut dyn FnMut(usize, usize)) {
    let element = view.dtype.size();
    let mut index = [0usize; crate::MAX_RANK];
    if view.elements() == 0 {
        return;
    }
    let (inner, count) = match view.rank {
        0 => (0, 1),
        rank if view.strides[rank - 1] == 1 => (1, view.dims[rank - 1]),
        _ => (0, 1),
    };
    let outer = view.rank - inner;
    loop {
        let start: usize = (0..outer).map(|axis| index[axis] * view.strides[axis] * element).sum();
        visit(view.offset + start, view.offset + start + count * element);
        let Some(axis) = (0..outer).rev().find(|axis| index[*axis] + 1 < view.dims[*axis]) else { return };
        index[axis] += 1;
        index[axis + 1..outer].fill(0);
    }
}

impl From<&str> for Fault {
    fn from(what: &str) -> Fault {
        Fault { what: what.to_string() }
    }
}
