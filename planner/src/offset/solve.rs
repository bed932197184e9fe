//! The driver: validate, bound, split, then place each part by the cheapest method that reaches the bound.

use alloc::vec;
use alloc::vec::Vec;

use super::greedy::{Fit, Greedy};
use super::problem::Problem;
use super::split::{Group, split};
use super::sweep::{events, pieces, validate};
use super::{Budget, Buffer, Error, Method, Solution, bound, order};

/// The greedy orders, most successful first.
const GREEDY: [(&str, Fit); 11] = [
    ("Z", Fit::First),
    ("AZ", Fit::First),
    ("Z", Fit::Best),
    ("WZ", Fit::First),
    ("TCZ", Fit::First),
    ("CZ", Fit::First),
    ("TZ", Fit::First),
    ("l", Fit::Best),
    ("U", Fit::First),
    ("OZ", Fit::First),
    ("rZ", Fit::First),
];

/// Places the buffers.
///
/// # Errors
/// An alignment that is not a power of two, parts that leave their buffer or share a step, or an arena of
/// more bytes than a `usize` can count.
pub fn solve(buffers: &[Buffer], budget: Budget) -> Result<Solution, Error> {
    validate(buffers)?;
    let all = pieces(buffers);
    let lower_bound = bound::of_pieces(buffers, &all, &events(&all));
    let mut offsets = vec![0; buffers.len()];
    let first = all.first().map_or(0, |piece| piece.owner as usize);
    let (groups, lifted_top) = split(buffers, all, &mut offsets).ok_or(Error::TooLarge { buffer: first })?;
    let mut solution =
        Solution { offsets, peak: lifted_top, lower_bound, optimal: false, search_steps: 0, method: Method::Trivial };
    for group in &groups {
        place(buffers, group, budget, &mut solution)?;
    }
    solution.optimal = solution.peak <= solution.lower_bound;
    Ok(solution)
}

/// Places one group; the peak of the others need not be undercut.
fn place(buffers: &[Buffer], group: &Group, budget: Budget, solution: &mut Solution) -> Result<(), Error> {
    let problem = Problem::new(buffers, &group.members, &group.pieces);
    let goal = solution.lower_bound.max(solution.peak).saturating_sub(group.base);
    let mut greedy = Greedy::default();
    let mut best = Vec::new();
    let mut best_peak = usize::MAX;
    let mut method = Method::Trivial;
    for (keys, fit) in GREEDY {
        let order = order::sorted(&problem, keys);
        if let Some(peak) = greedy.run(&problem, &order, fit, best_peak) {
            best_peak = peak;
            core::mem::swap(&mut best, &mut greedy.offsets);
            method = Method::Greedy(keys);
            if peak <= goal {
                break;
            }
        }
    }
    if best.is_empty() {
        return Err(Error::TooLarge { buffer: group.members[0] as usize });
    }
    if best_peak > goal && budget.get() > 0 {
        let left = budget.get() - solution.search_steps;
        if let Ok(found) = super::search::within(&problem, goal, left, &mut solution.search_steps) {
            best = found.offsets;
            best_peak = goal;
            method = Method::Search(found.keys);
        }
    }
    for (item, &offset) in problem.items.iter().zip(&best) {
        let offset = offset.checked_add(group.base).ok_or(Error::TooLarge { buffer: item.buffer as usize })?;
        offset.checked_add(item.size).ok_or(Error::TooLarge { buffer: item.buffer as usize })?;
        solution.offsets[item.buffer as usize] = offset;
    }
    if best_peak + group.base > solution.peak {
        solution.peak = best_peak + group.base;
        solution.method = method;
    }
    Ok(())
}
