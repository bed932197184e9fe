//! Faults that other planners and runtimes really had, as tests by the ids they go by in `docs/bug-log.md`.

mod alignment;
mod buffers;
mod build;
mod dynamic;
mod in_place;
mod lifetimes;
mod planner;
mod states;
mod views;
mod weights;

use model_graph::{Plan, PlanTensor, Storage};

/// The tensor of that name.
fn tensor<'a>(plan: &'a Plan<'static>, name: &str) -> &'a PlanTensor<'static> {
    plan.tensors.iter().find(|tensor| tensor.name == name).unwrap_or_else(|| panic!("no tensor `{name}` in {plan:?}"))
}

/// True when two tensors have a byte in common.
fn overlap(left: &PlanTensor<'_>, right: &PlanTensor<'_>) -> bool {
    let (left, right) = (left.view.span(), right.view.span());
    left.start < right.end && right.start < left.end
}

/// How many tensors are made over an operand.
fn in_place_steps(plan: &Plan<'static>) -> usize {
    plan.tensors.iter().filter(|tensor| matches!(tensor.storage, Storage::InPlace(_))).count()
}

/// Bytes beside what always lives.
fn transient(plan: &Plan<'static>) -> usize {
    plan.size - plan.persistent
}

/// The bytes, so many behind a multiple of 64 in a memory that has room for 128 more.
fn aligned<'a>(memory: &'a mut [u8], beyond: usize, bytes: &[u8]) -> &'a [u8] {
    let start = memory.as_ptr().addr().next_multiple_of(64) - memory.as_ptr().addr() + beyond;
    memory[start..start + bytes.len()].copy_from_slice(bytes);
    &memory[start..start + bytes.len()]
}
