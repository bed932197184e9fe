//! A state of a cell on its way: which tasks have run, and the moves that cannot be wrong.

use alloc::vec;
use alloc::vec::Vec;

use super::cell::Cell;
use super::mask;

/// Counts the steps of a search against its budget.
#[derive(Clone, Copy, Debug)]
pub(super) struct Meter {
    left: u64,
    pub(super) used: u64,
}

impl Meter {
    pub(super) fn new(left: u64) -> Meter {
        Meter { left, used: 0 }
    }

    /// Takes steps off the budget.
    pub(super) fn spend(&mut self, steps: u64) {
        self.left = self.left.saturating_sub(steps);
        self.used += steps;
    }

    pub(super) fn left(&self) -> u64 {
        self.left
    }
}

/// How many tasks in a row are looked at for a move that cannot be wrong.
const CHAIN: usize = 8;

/// A state. Live bytes are a function of the set alone; the peak is that of the way it was reached.
#[derive(Clone, Debug)]
pub(super) struct State {
    pub(super) set: Vec<u64>,
    /// Tasks that can run next.
    pub(super) ready: Vec<u64>,
    pub(super) live: usize,
    pub(super) peak: usize,
    pub(super) count: usize,
}

impl State {
    /// Before the first task. What stays at or below the floor costs nothing.
    pub(super) fn start(cell: &Cell, floor: usize) -> State {
        let mut ready = vec![0; cell.words];
        let set = vec![0; cell.words];
        for (index, task) in cell.tasks.iter().enumerate() {
            if task.after.within(&set) {
                mask::insert(&mut ready, index as u32);
            }
        }
        State { set, ready, live: cell.live, peak: cell.live.max(floor), count: 0 }
    }

    /// Runs a task that is ready.
    pub(super) fn run(&mut self, cell: &Cell, task: u32) {
        let (during, after) = cell.run(&self.set, self.live, task);
        self.peak = self.peak.max(during);
        self.live = after;
        self.count += 1;
        mask::insert(&mut self.set, task);
        mask::remove(&mut self.ready, task);
        for next in &cell.tasks[task as usize].next {
            if cell.tasks[*next as usize].after.within(&self.set) {
                mask::insert(&mut self.ready, *next);
            }
        }
    }

    /// Runs everything that can run now without loss, and tells `ran` of each.
    ///
    /// That is a task, or a chain of tasks each of which depends on the one before, that stays within the peak reached
    /// already and leaves no more live than there was, less than at any moment in between. In any order that finishes
    /// from here such a chain can be moved to the front: what it adds to the live bytes can only be less the more has
    /// run before it (a storage that is there need not be added, one whose other users have run is freed), so that at
    /// every later moment there is no more live than without the move.
    pub(super) fn close(&mut self, cell: &Cell, meter: &mut Meter, ran: &mut Vec<u32>) {
        let mut chain = Vec::new();
        // Round and round through what is ready, until nothing was found once around.
        let (mut from, mut since) = (0, None);
        loop {
            let task = mask::next(&self.ready, from).or_else(|| mask::next(&self.ready, 0));
            let Some(task) = task.filter(|task| since != Some(*task)) else { return };
            from = task + 1;
            if self.chain(cell, task, meter, &mut chain) {
                since = None;
                for task in &chain {
                    self.run(cell, *task);
                    ran.push(*task);
                }
            } else if since.is_none() {
                since = Some(task);
            }
        }
    }

    /// Whether a chain that begins with that task is such a move.
    fn chain(&self, cell: &Cell, task: u32, meter: &mut Meter, chain: &mut Vec<u32>) -> bool {
        chain.clear();
        meter.spend(1);
        let (during, after) = cell.run(&self.set, self.live, task);
        if during > self.peak {
            return false;
        }
        chain.push(task);
        if after <= self.live {
            return true;
        }
        let mut set: Vec<u64> = Vec::new();
        let (mut live, mut last) = (after, task);
        while chain.len() < CHAIN {
            if set.is_empty() {
                set.extend_from_slice(&self.set);
            }
            mask::insert(&mut set, last);
            let mut next = cell.tasks[last as usize].next.iter();
            let Some(next) = next.find(|next| cell.tasks[**next as usize].after.within(&set)) else { return false };
            meter.spend(1);
            let (during, after) = cell.run(&set, live, *next);
            if during > self.peak {
                return false;
            }
            chain.push(*next);
            if after <= self.live {
                return true;
            }
            (live, last) = (after, *next);
        }
        false
    }
}
