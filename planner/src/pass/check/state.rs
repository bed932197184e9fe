//! What the checker knows of states: which tensors are versions of one, and that they follow one another. Part of the
//! checker: it knows finished plans and nothing else.

use alloc::vec;
use alloc::vec::Vec;

use super::{Fault, fault};
use crate::{Plan, Role, Storage};

/// For each tensor the version of a state that is written over it. Versions lie exactly on one another, and each has at
/// most one after it.
pub(super) fn next_versions(plan: &Plan<'_>) -> Result<Vec<Option<usize>>, Fault> {
    let mut next = vec![None; plan.tensors.len()];
    for (index, tensor) in plan.tensors.iter().enumerate().filter(|(_, tensor)| tensor.role == Role::State) {
        let before = match tensor.storage {
            Storage::Own => continue,
            Storage::InPlace(before) if plan.tensors[before].role == Role::State => before,
            _ => {
                fault!("`{}` is a state and has neither bytes of its own nor those of a version before it", tensor.name)
            }
        };
        let name = plan.tensors[before].name;
        if !tensor.view.same_elements(&plan.tensors[before].view) {
            fault!("`{}` is a version of `{name}` and lies elsewhere", tensor.name);
        }
        if next[before].replace(index).is_some() {
            fault!("`{name}` is written twice, and nothing says by which first");
        }
    }
    Ok(next)
}

/// True when writing the tensor makes a version of a state: it is one, or all of what one is made of.
pub(super) fn is_of_state(plan: &Plan<'_>, tensor: usize) -> bool {
    let mut at = tensor;
    // Storages are in no circle.
    while let Storage::Part(whole) = plan.tensors[at].storage {
        at = whole;
    }
    plan.tensors[at].role == Role::State && matches!(plan.tensors[at].storage, Storage::InPlace(_))
}
