//! What the checker knows of shared weights: they lie in a buffer of their own behind the model's, nothing else does, and
//! no step writes there. Part of the checker: it knows finished plans and nothing else.

use super::{Fault, fault};
use crate::{Plan, Role, Storage};

/// Weights and what looks at them lie among the shared weights, where there are such, and nothing is written there.
pub(super) fn check_shared(plan: &Plan<'_>) -> Result<(), Fault> {
    if plan.size.checked_next_multiple_of(plan.align).and_then(|start| start.checked_add(plan.shared)).is_none() {
        fault!("no address lies behind {} bytes and {} of shared weights", plan.size, plan.shared);
    }
    for (index, tensor) in plan.tensors.iter().enumerate() {
        if plan.shared > 0 && is_weight(plan, index) && !is_shared_weight(plan, index) {
            fault!("`{}` is a weight and does not lie among the shared weights", tensor.name);
        }
    }
    for (index, step) in plan.steps.iter().enumerate() {
        for write in step.outputs.iter().chain(step.scratch) {
            let tensor = &plan.tensors[*write];
            if !tensor.view.span().is_empty() && tensor.view.span().end > plan.size {
                fault!("step {index} writes `{}`, which does not lie in the model's own buffer", tensor.name);
            }
        }
    }
    Ok(())
}

/// True for a tensor that has a weight's bytes and lies in the buffer of the shared weights.
pub(super) fn is_shared_weight(plan: &Plan<'_>, tensor: usize) -> bool {
    let (span, start) = (plan.tensors[tensor].view.span(), plan.shared_start());
    is_weight(plan, tensor) && start <= span.start && span.end - start <= plan.shared
}

/// True for a weight and for what looks at one.
fn is_weight(plan: &Plan<'_>, tensor: usize) -> bool {
    let mut at = tensor;
    // Storages are in no circle.
    while let Storage::View(of) = plan.tensors[at].storage {
        at = of;
    }
    plan.tensors[at].role == Role::Weight && plan.tensors[at].storage == Storage::Own
}
