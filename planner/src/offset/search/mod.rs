//! The exact search for the least peak: canonical solutions only, pruned by what each section still has to
//! hold, restarted under static orders and under orders learned from its failures.

mod run;
mod sections;
mod span;
mod state;
mod tree;

use alloc::vec::Vec;

use self::run::{Answer, Runner};
use super::problem::Problem;

/// A better placement.
#[derive(Debug)]
pub(super) struct Better {
    pub(super) offsets: Vec<usize>,
    pub(super) peak: usize,
    pub(super) keys: &'static str,
}

/// What the search came to.
#[derive(Debug)]
pub(super) struct Improved {
    pub(super) better: Option<Better>,
    /// No placement has a peak below this, unless it is below the goal.
    pub(super) proved: usize,
}

/// Static orders that one capacity between the goal and the best is tried under.
const FEW: usize = 3;
/// Capacities between the goal and the best that are tried in a round.
const RUNGS: usize = 6;

/// Looks for placements with a lower peak than `peak`, down to `goal`, in at most `budget` steps.
///
/// Each round first tries the goal, then capacities half-way between what failed and the best found; in the
/// next round every run may be four times as long.
pub(super) fn improve(problem: &Problem, goal: usize, peak: usize, budget: u64, steps: &mut u64) -> Improved {
    let mut improved = Improved { better: None, proved: 0 };
    let largest = problem.totals.iter().copied().max().unwrap_or(0);
    // The search adds sizes without checks: leave it the room, or leave it out.
    if !problem.plain || !problem.linked || peak > usize::MAX / 8 {
        return improved;
    }
    let end = steps.saturating_add(affordable(problem, budget));
    let unit = unit(problem);
    let mut runner = Runner::new(problem, end);
    let mut best = peak;
    // The least capacity that is not disproved.
    let mut open = goal.max(largest);
    let mut round = 0;
    while open < best && *steps < end {
        let mut failed = open;
        let mut answer = runner.attempt(open, round, 0, run::ORDERS.len(), steps);
        let mut rung = 0;
        loop {
            let tried = failed;
            match answer {
                Answer::Found(better) => {
                    best = better.peak;
                    improved.better = Some(better);
                    failed = open;
                }
                Answer::Infeasible => open = (tried / unit + 1).saturating_mul(unit),
                Answer::Exhausted => {}
            }
            failed = failed.max(open);
            let middle = (failed + (best.saturating_sub(failed)) / 2) / unit * unit;
            if rung == RUNGS || *steps >= end || middle <= failed || middle >= best || best - failed <= best / 4096 {
                break;
            }
            failed = middle;
            answer = runner.attempt(middle, round, rung, FEW, steps);
            rung += 1;
        }
        round += 1;
    }
    improved.proved = open;
    improved
}

/// The steps of a budget in a problem of this size: all of them where a step costs what it usually does.
fn affordable(problem: &Problem, budget: u64) -> u64 {
    const USUAL: u64 = 25_000;
    let count = problem.items.len() as u64;
    let cost = problem.earlier.len() as u64 + 32 * count;
    if cost <= USUAL {
        return budget;
    }
    let scaled = u128::from(budget) * u128::from(USUAL) / u128::from(cost);
    (scaled as u64).max(5 * count / 2).min(budget)
}

/// A number that divides the peak of every canonical solution.
fn unit(problem: &Problem) -> usize {
    let mut unit = 0;
    for item in &problem.items {
        unit = gcd(unit, item.size);
    }
    // Tops are multiples of the unit; they stay so where aligning does nothing or is to a multiple of it.
    loop {
        let before = unit;
        for item in &problem.items {
            if !unit.is_multiple_of(item.align) {
                unit = gcd(unit, item.align);
            }
        }
        if unit == before {
            return unit.max(1);
        }
    }
}

fn gcd(mut a: usize, mut b: usize) -> usize {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}
