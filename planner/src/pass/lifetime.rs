//! When each tensor's bytes count. Moments as in [`crate::Plan`].

use alloc::vec;
use alloc::vec::Vec;

use super::lower::Lowered;
use crate::{Role, Storage};

/// First and last moment, both included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Lifetime {
    pub(super) first: usize,
    pub(super) last: usize,
}

/// The lifetime of every tensor by itself; what shares its storage may live longer.
pub(super) fn lifetimes(lowered: &Lowered) -> Vec<Lifetime> {
    let end = lowered.steps.len() + 1;
    let count = lowered.tensors.len();
    let mut made = vec![None; count];
    let mut read = vec![None; count];
    for (index, step) in lowered.steps.iter().enumerate() {
        let moment = index + 1;
        made[step.output] = Some(moment);
        for input in &step.inputs {
            read[*input] = Some(moment);
        }
        if let Some(scratch) = step.scratch {
            made[scratch] = Some(moment);
        }
    }
    // Parts are complete when the last of them is, and all of them last as long as the whole does.
    let mut parts: Vec<Vec<usize>> = vec![Vec::new(); count];
    for (index, tensor) in lowered.tensors.iter().enumerate() {
        if let Storage::Part(whole) = tensor.storage {
            parts[whole].push(index);
        }
    }
    let mut first = vec![None; count];
    for index in 0..count {
        first_moment(lowered, &made, &parts, index, &mut first);
    }
    let mut next = vec![None; count];
    for (index, tensor) in lowered.tensors.iter().enumerate().filter(|(_, tensor)| tensor.role == Role::State) {
        if let Storage::InPlace(before) = tensor.storage {
            next[before] = Some(index);
        }
    }
    let first_of = |index: usize| first[index].unwrap_or(0);
    let mut lifetimes: Vec<Lifetime> = (0..count)
        .map(|index| {
            let first = first[index].unwrap_or(0);
            let last = read[index].unwrap_or(0).max(first);
            match lowered.tensors[index].role {
                // Until the next version takes the bytes over.
                Role::State => Lifetime { first, last: next[index].map_or(end, first_of) },
                role if role.is_persistent() => Lifetime { first: 0, last: end },
                Role::Output => Lifetime { first, last: end },
                _ => Lifetime { first, last },
            }
        })
        .collect();
    for (index, tensor) in lowered.tensors.iter().enumerate() {
        // From the outermost concatenation inwards.
        let mut whole = tensor.storage;
        while let Storage::Part(outer) = whole {
            lifetimes[index].last = lifetimes[index].last.max(lifetimes[outer].last).max(lifetimes[outer].first);
            whole = lowered.tensors[outer].storage;
        }
    }
    lifetimes
}

/// The moment from which a tensor holds its value.
fn first_moment(
    lowered: &Lowered,
    made: &[Option<usize>],
    parts: &[Vec<usize>],
    index: usize,
    first: &mut [Option<usize>],
) -> usize {
    if let Some(known) = first[index] {
        return known;
    }
    let moment = match (made[index], lowered.tensors[index].storage) {
        (Some(moment), _) => moment,
        (None, Storage::View(of)) => first_moment(lowered, made, parts, of, first),
        _ => parts[index].iter().map(|part| first_moment(lowered, made, parts, *part, first)).max().unwrap_or(0),
    };
    first[index] = Some(moment);
    moment
}
