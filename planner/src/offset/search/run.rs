//! Single runs of the search at one capacity: which orders, how long, and what one run teaches the next.

use alloc::vec;
use alloc::vec::Vec;
use core::cmp::Reverse;

use super::Better;
use super::state::State;
use super::tree::{Outcome, Tree};
use crate::offset::order;
use crate::offset::problem::Problem;

/// The static orders. They differ on purpose: what one does not find in many steps another finds in few.
pub(super) const ORDERS: [&str; 8] = ["TWA", "lzL", "TOU", "Ul", "UL", "TCZ", "lZ", "TWC"];

/// Rounds in which the static orders have long runs.
const STATIC_ROUNDS: u32 = 2;

/// Learned runs together may take the steps of the static ones divided by this.
const LEARNED_SHARE: u64 = 2;

/// How a search at one capacity ended.
#[derive(Debug)]
pub(super) enum Answer {
    Found(Better),
    /// There is no placement.
    Infeasible,
    /// The steps ran out.
    Exhausted,
}

/// What is kept from run to run.
#[derive(Debug)]
pub(super) struct Runner<'p> {
    problem: &'p Problem,
    state: State<'p>,
    tree: Tree,
    /// Ranks under each static order, made when first needed.
    ranks: Vec<Vec<u32>>,
    /// How much each item was in the way, over all runs.
    blame: Vec<u64>,
    learned: Vec<u32>,
    end: u64,
}

impl<'p> Runner<'p> {
    pub(super) fn new(problem: &'p Problem, end: u64) -> Self {
        Self {
            problem,
            state: State::new(problem),
            tree: Tree::default(),
            ranks: Vec::new(),
            blame: vec![0; problem.items.len()],
            learned: vec![0; problem.items.len()],
            end,
        }
    }

    /// Looks for a placement within `capacity`: one run under each of `count` static orders, from `first` on,
    /// then short runs under learned orders that together may take half as many steps.
    ///
    /// Long runs of static orders pay in the first rounds only. What they have not found by then is found, if
    /// at all, by many short runs that learn from each other; one long run stays, because only a run that is
    /// not cut off proves that there is nothing to find.
    pub(super) fn attempt(
        &mut self,
        capacity: usize,
        round: u32,
        first: usize,
        count: usize,
        steps: &mut u64,
    ) -> Answer {
        self.state.capacity = capacity;
        let items = self.problem.items.len() as u64;
        let long = (5 * items).saturating_mul(4u64.saturating_pow(round));
        let short = 2 * items + items * u64::from(round);
        for turn in 0..count {
            let number = (first + turn) % ORDERS.len();
            self.rank(number);
            if round < STATIC_ROUNDS || (first, turn) == (0, 0) {
                let answer = self.run(number, false, long, steps);
                if !matches!(answer, Answer::Exhausted) {
                    return answer;
                }
            }
        }
        let until = steps.saturating_add(long.saturating_mul(count as u64) / LEARNED_SHARE);
        let mut turn = 0;
        while *steps < until.min(self.end) {
            let number = (first + turn % count) % ORDERS.len();
            self.learn(number);
            let answer = self.run(number, true, short, steps);
            if !matches!(answer, Answer::Exhausted) {
                return answer;
            }
            turn += 1;
        }
        Answer::Exhausted
    }

    /// Makes the ranks of a static order.
    fn rank(&mut self, number: usize) {
        while self.ranks.len() <= number {
            let order = order::sorted(self.problem, ORDERS[self.ranks.len()]);
            let mut rank = vec![0; order.len()];
            for (position, &item) in order.iter().enumerate() {
                rank[item as usize] = position as u32;
            }
            self.ranks.push(rank);
        }
    }

    /// Ranks first what was most in the way, ties as under the static order.
    fn learn(&mut self, number: usize) {
        let rank = &self.ranks[number];
        let mut keyed = Vec::with_capacity(rank.len());
        for (item, &rank) in rank.iter().enumerate() {
            keyed.push((Reverse(self.blame[item]), rank, item as u32));
        }
        keyed.sort_unstable();
        for (position, &(_, _, item)) in keyed.iter().enumerate() {
            self.learned[item as usize] = position as u32;
        }
    }

    /// One run.
    fn run(&mut self, number: usize, learned: bool, limit: u64, steps: &mut u64) -> Answer {
        let rank = if learned { &self.learned } else { &self.ranks[number] };
        self.state.chain_twins(rank);
        let limit = limit.min(self.end.saturating_sub(*steps));
        match self.tree.run(&mut self.state, rank, limit, steps) {
            Outcome::Found => {
                let mut peak = 0;
                for (item, offset) in self.problem.items.iter().zip(&self.state.offsets) {
                    peak = peak.max(offset + item.size);
                }
                let keys = if learned { "learned" } else { ORDERS[number] };
                Answer::Found(Better { offsets: self.state.offsets.clone(), peak, keys })
            }
            Outcome::Infeasible => Answer::Infeasible,
            Outcome::Exhausted => {
                // Every run counts alike, however many failures it met.
                let most = self.state.blame.iter().copied().max().unwrap_or(0) + 1;
                for (total, own) in self.blame.iter_mut().zip(&mut self.state.blame) {
                    *total += *own * 1024 / most;
                    *own = 0;
                }
                Answer::Exhausted
            }
        }
    }
}
