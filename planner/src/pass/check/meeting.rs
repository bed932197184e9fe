//! Which tensors a step's writes could meet: those that have their value then and whose bytes lie near. Part of the checker:
//! it knows finished plans and nothing else.

use alloc::vec;
use alloc::vec::Vec;
use core::ops::Range;

use super::{Fault, Times};
use crate::{Plan, Role};

/// A step writes a tensor while another has its value, and the two may share bytes.
#[derive(Clone, Copy)]
pub(super) struct Meeting {
    pub(super) step: usize,
    pub(super) write: usize,
    pub(super) other: usize,
}

/// Calls `visit` for whatever a step writes and each other tensor that has its value then and whose span meets it. Spans
/// that hold a tensor's bytes and more find more of them.
pub(super) fn for_each_meeting(
    plan: &Plan<'_>,
    times: &Times,
    spans: Vec<Range<usize>>,
    visit: &mut dyn FnMut(Meeting) -> Result<(), Fault>,
) -> Result<(), Fault> {
    let mut arriving: Vec<Vec<usize>> = vec![Vec::new(); plan.end() + 1];
    for (index, defined) in times.defined.iter().enumerate() {
        arriving[*defined].push(index);
    }
    // A state's bytes are its own all the time, even between the last reader of a version and the next write.
    let held: Vec<usize> = plan
        .tensors
        .iter()
        .zip(&times.needed)
        .map(|(tensor, needed)| if tensor.role == Role::State { plan.end() } else { *needed })
        .collect();
    let mut live = Live::new(plan, spans, &times.defined, &held);
    for (step, calls) in plan.steps.iter().enumerate() {
        let moment = step + 1;
        live.passing.extend_from_slice(&arriving[moment]);
        for write in calls.outputs.iter().chain(calls.scratch) {
            for other in live.near(*write, moment, &held) {
                visit(Meeting { step, write: *write, other })?;
            }
        }
    }
    Ok(())
}

/// The tensors that have their value at a step. Those that always have it are many and lie together, so they are looked
/// up by where they lie; the others are few at any moment.
struct Live {
    spans: Vec<Range<usize>>,
    /// By their start, each with the furthest end up to here.
    always: Vec<(usize, usize)>,
    passing: Vec<usize>,
}

impl Live {
    fn new(plan: &Plan<'_>, spans: Vec<Range<usize>>, defined: &[usize], needed: &[usize]) -> Live {
        let (mut always, mut passing) = (Vec::new(), Vec::new());
        for (index, span) in spans.iter().enumerate().filter(|(index, span)| defined[*index] == 0 && !span.is_empty()) {
            if needed[index] == plan.end() {
                always.push((index, span.end));
            } else {
                passing.push(index);
            }
        }
        always.sort_by_key(|(index, _)| spans[*index].start);
        let mut furthest = 0;
        for (_, end) in &mut always {
            furthest = furthest.max(*end);
            *end = furthest;
        }
        Live { spans, always, passing }
    }

    /// The others that are needed at that moment or later and whose spans meet the tensor's.
    fn near(&mut self, tensor: usize, moment: usize, needed: &[usize]) -> Vec<usize> {
        let Live { spans, always, passing } = self;
        let span = &spans[tensor];
        passing.retain(|other| needed[*other] >= moment);
        let before = always.partition_point(|(other, _)| spans[*other].start < span.end);
        let always = always[..before].iter().rev().take_while(|(_, furthest)| *furthest > span.start);
        let mut near: Vec<usize> = always.map(|(other, _)| *other).collect();
        near.extend_from_slice(passing);
        near.retain(|other| {
            let with = &spans[*other];
            with.start < span.end && span.start < with.end && *other != tensor
        });
        near
    }
}
