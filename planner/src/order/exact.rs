//! The exact search: best first over sets of tasks that have run, by the peak on the way there.
//!
//! Live bytes depend on the set alone, so of all ways to a set only the one with the lowest peak counts. States are
//! taken in the order of their peaks, the furthest first among equals; the first complete one is optimal. The peak of
//! the next state is at any time a lower bound of what is still to be found.

use alloc::collections::BinaryHeap;
use alloc::vec::Vec;
use core::cmp::Reverse;

use super::cell::Cell;
use super::mask;
use super::walk::{Meter, State};

/// Words of sets that are kept at most: 256 MiB.
const WORDS: usize = 1 << 25;

/// What came of it.
pub(super) struct Outcome {
    /// An order whose peak is below the one to beat.
    pub(super) found: Option<Vec<u32>>,
    /// No order has a lower peak than this, or than the one to beat.
    pub(super) lower_bound: usize,
}

/// A state that is kept.
#[derive(Clone, Copy)]
struct Entry {
    parent: u32,
    /// The task that led here, or [`CLOSED`].
    task: u32,
    peak: usize,
    live: usize,
    expanded: bool,
}

/// Stands for the moves that cannot be wrong.
const CLOSED: u32 = u32::MAX;

struct Table {
    /// Two sets each: what has run and what is ready.
    sets: Vec<u64>,
    entries: Vec<Entry>,
    /// Open addressing; 0 is empty, otherwise an entry's index plus one.
    slots: Vec<u32>,
    words: usize,
}

/// Looks for an order with a peak below `beat`; peaks up to the floor are as good as one another.
pub(super) fn search(cell: &Cell, floor: usize, beat: usize, meter: &mut Meter) -> Outcome {
    let mut table = Table { sets: Vec::new(), entries: Vec::new(), slots: alloc::vec![0; 64], words: cell.words };
    let mut heap = BinaryHeap::new();
    let mut state = State::start(cell, floor);
    let mut best = Outcome { found: None, lower_bound: floor };
    let mut beat = beat;
    if state.peak >= beat {
        return Outcome { found: None, lower_bound: beat };
    }
    table.insert(&state, 0, CLOSED);
    heap.push((Reverse(state.peak), 0usize, Reverse(state.live), Reverse(0u32)));
    let mut ran = Vec::new();
    while let Some((Reverse(peak), _, _, Reverse(index))) = heap.pop() {
        let entry = table.entries[index as usize];
        if entry.expanded || entry.peak != peak {
            continue;
        }
        best.lower_bound = peak;
        if peak >= beat {
            return best;
        }
        if meter.left() == 0 || table.sets.len() > WORDS {
            return best;
        }
        table.entries[index as usize].expanded = true;
        table.load(index, &mut state);
        ran.clear();
        state.close(cell, meter, &mut ran);
        let mut from = index;
        if !ran.is_empty() {
            match table.better(&state) {
                Some(closed) => from = table.put(closed, &state, index, CLOSED),
                None => continue,
            }
            table.entries[from as usize].expanded = true;
        }
        if state.count == cell.tasks.len() {
            best.found = Some(table.order(cell, floor, from));
            return best;
        }
        for task in mask::members(&state.ready) {
            meter.spend(1);
            let (during, live) = cell.run(&state.set, state.live, task);
            let peak = state.peak.max(during);
            if peak >= beat {
                continue;
            }
            let mut child = state.clone();
            child.run(cell, task);
            if child.count == cell.tasks.len() {
                beat = peak;
                best.found = Some(table.order_and(cell, floor, from, task));
                continue;
            }
            meter.spend(cell.words as u64 / 4);
            if let Some(slot) = table.better(&child) {
                let index = table.put(slot, &child, from, task);
                heap.push((Reverse(peak), child.count, Reverse(live), Reverse(index)));
            }
        }
    }
    best.lower_bound = beat;
    best
}

impl Table {
    fn set(&self, index: u32) -> &[u64] {
        &self.sets[index as usize * 2 * self.words..][..self.words]
    }

    fn load(&self, index: u32, state: &mut State) {
        let (set, ready) = self.sets[index as usize * 2 * self.words..][..2 * self.words].split_at(self.words);
        state.set.copy_from_slice(set);
        state.ready.copy_from_slice(ready);
        state.live = self.entries[index as usize].live;
        state.peak = self.entries[index as usize].peak;
        state.count = set.iter().map(|word| word.count_ones() as usize).sum();
    }

    /// The slot of the set, unless it is known with a peak as low.
    fn better(&self, state: &State) -> Option<usize> {
        let slot = self.slot(&state.set);
        match self.slots[slot] {
            0 => Some(slot),
            index => {
                let entry = &self.entries[index as usize - 1];
                (!entry.expanded && entry.peak > state.peak).then_some(slot)
            }
        }
    }

    /// Keeps a state in a slot that [`Table::better`] gave.
    fn put(&mut self, slot: usize, state: &State, parent: u32, task: u32) -> u32 {
        match self.slots[slot] {
            0 => self.insert(state, parent, task),
            index => {
                let entry = &mut self.entries[index as usize - 1];
                (entry.parent, entry.task, entry.peak) = (parent, task, state.peak);
                index - 1
            }
        }
    }

    fn insert(&mut self, state: &State, parent: u32, task: u32) -> u32 {
        let index = self.entries.len() as u32;
        self.sets.extend_from_slice(&state.set);
        self.sets.extend_from_slice(&state.ready);
        self.entries.push(Entry { parent, task, peak: state.peak, live: state.live, expanded: false });
        if self.entries.len() * 2 > self.slots.len() {
            self.slots = alloc::vec![0; self.slots.len() * 2];
            for index in 0..self.entries.len() as u32 {
                let slot = self.slot(self.set(index));
                self.slots[slot] = index + 1;
            }
        } else {
            let slot = self.slot(&state.set);
            self.slots[slot] = index + 1;
        }
        index
    }

    /// Where a set is, or would be.
    fn slot(&self, set: &[u64]) -> usize {
        let mut hash = 0u64;
        for word in set {
            hash = (hash ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15);
            hash ^= hash >> 32;
        }
        let mut slot = hash as usize & (self.slots.len() - 1);
        while self.slots[slot] != 0 && self.set(self.slots[slot] - 1) != set {
            slot = (slot + 1) & (self.slots.len() - 1);
        }
        slot
    }

    /// The tasks on the way to an entry. The moves that cannot be wrong are found again, as they were found before.
    fn order(&self, cell: &Cell, floor: usize, entry: u32) -> Vec<u32> {
        let mut chosen = Vec::new();
        let mut at = entry;
        while at != 0 {
            let entry = self.entries[at as usize];
            if entry.task != CLOSED {
                chosen.push(entry.task);
            }
            at = entry.parent;
        }
        chosen.reverse();
        replay(cell, floor, chosen)
    }

    fn order_and(&self, cell: &Cell, floor: usize, entry: u32, task: u32) -> Vec<u32> {
        let mut order = self.order(cell, floor, entry);
        order.push(task);
        order
    }
}

/// The tasks that run when these are chosen and all moves that cannot be wrong are made in between and after.
pub(super) fn replay(cell: &Cell, floor: usize, chosen: Vec<u32>) -> Vec<u32> {
    let mut state = State::start(cell, floor);
    let mut order = Vec::with_capacity(cell.tasks.len());
    let mut meter = Meter::new(0);
    state.close(cell, &mut meter, &mut order);
    for task in chosen {
        order.push(task);
        state.run(cell, task);
        state.close(cell, &mut meter, &mut order);
    }
    order
}
