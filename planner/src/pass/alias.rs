//! In-place successors: a step writes over an operand that nobody reads any more.

use alloc::vec;
use alloc::vec::Vec;

use super::lifetime::Lifetime;
use super::lower::{Lowered, Step};
use crate::{Role, Storage};

/// Gives results the bytes of an operand where all of this holds: the kernel can do it; the operand's elements lie as
/// the result's would; and no tensor that shares any of those bytes counts after this step, which rules out weights,
/// constants, kept tensors, outputs and views that are still to be read.
pub(super) fn in_place(lowered: &mut Lowered, lifetimes: &[Lifetime]) {
    let mut members: Vec<Vec<usize>> = vec![Vec::new(); lowered.tensors.len()];
    let mut is_input = vec![false; lowered.tensors.len()];
    for (index, tensor) in lowered.tensors.iter().enumerate() {
        members[tensor.root].push(index);
        is_input[tensor.root] |= tensor.role == Role::Input;
    }
    for index in 0..lowered.steps.len() {
        let moment = index + 1;
        // What nobody reads from this step on is in nobody's way any more: a long chain in one place stays short.
        for input in &lowered.steps[index].inputs {
            members[lowered.tensors[*input].root].retain(|member| lifetimes[*member].last >= moment);
        }
        let step = &lowered.steps[index];
        let output = step.output;
        // A part lies where its concatenation wants it, and a result with views of its own brings them along.
        if lowered.tensors[output].root != output {
            continue;
        }
        let Some(parent) = (0..step.inputs.len())
            .find(|operand| fits(lowered, lifetimes, (&members, &is_input), step, moment, *operand))
            .map(|operand| step.inputs[operand])
        else {
            continue;
        };
        let (root, place) = (lowered.tensors[parent].root, lowered.tensors[parent].view.clone());
        lowered.tensors[output].storage = Storage::InPlace(parent);
        let moved = core::mem::take(&mut members[output]);
        for member in &moved {
            lowered.tensors[*member].root = root;
            let view = lowered.tensors[*member].view.clone();
            lowered.tensors[*member].view = view.laid_at(&place);
        }
        members[root].extend(moved);
    }
}

fn fits(
    lowered: &Lowered,
    lifetimes: &[Lifetime],
    (members, is_input): (&[Vec<usize>], &[bool]),
    step: &Step,
    moment: usize,
    operand: usize,
) -> bool {
    let tensors = &lowered.tensors;
    let (parent, output) = (step.inputs[operand], step.output);
    // The output has storage of its own so far, and lies at its start.
    let target = tensors[output].view.clone().laid_at(&tensors[parent].view);
    let root = tensors[parent].root;
    if !step.op.in_place(operand) || !tensors[parent].view.same_elements(&target) || target.span().is_empty() {
        return false;
    }
    // A kept tensor outlives the input's next writing. Parts of the result's own would move with it.
    let kept = members[output].iter().any(|member| tensors[*member].role.is_persistent());
    if kept && target.moves() {
        return false;
    }
    if kept && is_input[root] {
        return false;
    }
    members[root].iter().all(|member| {
        if tensors[*member].view.span().is_empty() || tensors[*member].view.apart(&target) {
            return true;
        }
        if lifetimes[*member].last > moment {
            return false;
        }
        // Other operands of this very step may share the bytes only if they are read in the order they are written.
        step.inputs
            .iter()
            .enumerate()
            .filter(|(_, input)| *input == member)
            .all(|(other, input)| step.op.in_place(other) && tensors[*input].view.same_elements(&target))
    })
}
