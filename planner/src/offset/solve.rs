//! The driver: validate, bound, split, then place each part by the cheapest method that reaches the bound.

use alloc::vec;
use alloc::vec::Vec;

use super::greedy::{Fit, Greedy};
use super::problem::Problem;
use super::search;
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

/// Overlapping pairs that the greedy orders of one part may look at together, about.
const MOST_PAIRS: usize = 1 << 24;

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
    let mut placed = Vec::with_capacity(groups.len());
    for group in groups {
        placed.push(Placed::new(buffers, group, budget, &mut solution)?);
    }
    // Only the highest part is worth a search; when that has had one, the others do not matter.
    while let Some(highest) = placed.iter_mut().max_by_key(|part| (part.peak, part.searched)) {
        if highest.peak <= solution.lower_bound || highest.searched || budget.get() == 0 {
            break;
        }
        highest.search(buffers, budget, &mut solution);
    }
    let mut proved = solution.lower_bound.max(lifted_top);
    for part in &placed {
        if part.peak > solution.peak {
            solution.peak = part.peak;
            solution.method = part.method;
        }
        proved = proved.max(part.proved);
    }
    solution.optimal = solution.peak <= proved;
    Ok(solution)
}

/// A part of the input that is placed, and what is known of it. Peaks count from the arena's start.
struct Placed {
    group: Group,
    peak: usize,
    /// No placement of the part has a lower peak than this.
    proved: usize,
    searched: bool,
    problem: Problem,
    method: Method,
}

impl Placed {
    /// Places a group by the greedy orders, stopping as soon as the bound is met.
    fn new(buffers: &[Buffer], group: Group, budget: Budget, solution: &mut Solution) -> Result<Self, Error> {
        let problem = Problem::new(buffers, &group.members, &group.pieces);
        let goal = solution.lower_bound.saturating_sub(group.base);
        let mut greedy = Greedy::default();
        let mut best = Vec::new();
        let mut peak = usize::MAX;
        let mut method = Method::Trivial;
        let mut pairs = 0;
        for (keys, fit) in GREEDY {
            // In very large problems the search, which follows, is the better use of time.
            if pairs > MOST_PAIRS && budget.get() > 0 {
                break;
            }
            pairs += problem.earlier.len();
            let order = order::sorted(&problem, keys);
            if let Some(found) = greedy.run(&problem, &order, fit, peak) {
                peak = found;
                core::mem::swap(&mut best, &mut greedy.offsets);
                method = Method::Greedy(keys);
                if peak <= goal {
                    break;
                }
            }
        }
        let too_large = Error::TooLarge { buffer: group.members[0] as usize };
        let (false, Some(peak)) = (best.is_empty(), peak.checked_add(group.base)) else {
            return Err(too_large);
        };
        write(&problem, &best, group.base, solution);
        Ok(Self { group, peak, proved: 0, searched: false, problem, method })
    }

    /// Searches for a lower peak of the group.
    fn search(&mut self, buffers: &[Buffer], budget: Budget, solution: &mut Solution) {
        self.searched = true;
        let base = self.group.base;
        let whole;
        let problem = if self.problem.plain {
            &self.problem
        } else {
            whole = Problem::whole(buffers, &self.group.members, &self.group.pieces);
            &whole
        };
        let goal = solution.lower_bound.saturating_sub(base);
        let left = budget.get() - solution.search_steps;
        let improved = search::improve(problem, goal, self.peak - base, left, &mut solution.search_steps);
        if let Some(better) = improved.better {
            write(problem, &better.offsets, base, solution);
            self.peak = better.peak + base;
            self.method = Method::Search(better.keys);
        }
        // With parts in play the search sees less freedom than there is, and proves nothing.
        if self.problem.plain {
            self.proved = improved.proved.saturating_add(base);
        }
    }
}

/// Copies the offsets of a group to the solution.
fn write(problem: &Problem, offsets: &[usize], base: usize, solution: &mut Solution) {
    for (item, &offset) in problem.items.iter().zip(offsets) {
        solution.offsets[item.buffer as usize] = base + offset;
    }
}
