//! The exact search for a placement within a capacity: canonical solutions only, pruned by what each
//! section still has to hold, tried under several static orders with limits that double.

mod state;
mod tree;

use alloc::vec::Vec;

use self::state::State;
use self::tree::{Outcome, Tree};
use super::order;
use super::problem::Problem;

/// The static orders, tried in turn.
pub(super) const ORDERS: [&str; 7] = ["TCZ", "TWC", "TCW", "Ul", "lZ", "UL", "TWA"];

/// What the search found.
#[derive(Debug, Default)]
pub(super) struct Found {
    pub(super) offsets: Vec<usize>,
    pub(super) keys: &'static str,
}

/// Looks for a placement within `capacity`; `Err(true)` says that there is none, `Err(false)` that the
/// budget ran out.
pub(super) fn within(problem: &Problem, capacity: usize, budget: u64, steps: &mut u64) -> Result<Found, bool> {
    let mut tree = Tree::default();
    let mut states = Vec::<State>::new();
    let end = steps.saturating_add(budget);
    let mut limit = 2 * problem.items.len() as u64;
    loop {
        for (number, keys) in ORDERS.into_iter().enumerate() {
            if states.len() == number {
                states.push(State::new(problem, &order::sorted(problem, keys)));
            }
            let state = &mut states[number];
            state.capacity = capacity;
            let allowed = limit.min(end.saturating_sub(*steps));
            match tree.run(state, allowed, steps) {
                Outcome::Found => {
                    let mut offsets = Vec::new();
                    offsets.resize(problem.items.len(), 0);
                    for (entry, &offset) in state.entries.iter().zip(&state.offsets) {
                        offsets[entry.item as usize] = offset;
                    }
                    return Ok(Found { offsets, keys });
                }
                Outcome::Infeasible => return Err(true),
                Outcome::Exhausted => {}
            }
            if *steps >= end {
                return Err(false);
            }
        }
        limit *= 2;
    }
}
