//! The tree of the exact search, walked with an explicit stack: which entry comes next, where the problem
//! falls apart, and where to go back to.

use alloc::vec::Vec;

use super::state::{Mark, NONE, State};

/// What a search came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Outcome {
    /// Everything is placed within the capacity; the offsets are in the state.
    Found,
    /// There is no placement within the capacity.
    Infeasible,
    /// The steps ran out.
    Exhausted,
}

/// Entries that are connected in time and still to be placed, all at or above `offset`.
#[derive(Clone, Copy, Debug)]
struct Open {
    list: usize,
    list_end: usize,
    lo: u32,
    hi: u32,
    /// The placement that made it.
    parent: u32,
    offset: usize,
    after: u32,
}

/// A decision: one of the candidates is next.
#[derive(Clone, Copy, Debug)]
struct Frame {
    open: Open,
    candidate: usize,
    candidates_end: usize,
    /// Lengths of the stacks before the present candidate was placed.
    mark: Mark,
    pending: usize,
    lists: usize,
    /// Nothing unplaced overlaps the present candidate, so that it cannot be what makes the rest fail.
    bare: bool,
}

/// The stacks of a search, kept between searches.
#[derive(Debug, Default)]
pub(super) struct Tree {
    frames: Vec<Frame>,
    pending: Vec<Open>,
    lists: Vec<u32>,
    candidates: Vec<(usize, u32)>,
}

impl Tree {
    /// Searches for a placement of everything within `state.capacity`, in at most `limit` steps.
    pub(super) fn run(&mut self, state: &mut State, limit: u64, steps: &mut u64) -> Outcome {
        let start = state.mark();
        let outcome = self.walk(state, limit, steps);
        // The offsets of a solution stay; all else is as before.
        state.undo(start);
        outcome
    }

    fn walk(&mut self, state: &mut State, limit: u64, steps: &mut u64) -> Outcome {
        self.frames.clear();
        self.pending.clear();
        self.lists.clear();
        self.candidates.clear();
        let count = state.entries.len() as u32;
        for index in 0..count {
            self.lists.push(index);
        }
        let whole = Open {
            list: 0,
            list_end: count as usize,
            lo: 0,
            hi: state.rest.len() as u32,
            parent: NONE,
            offset: 0,
            after: NONE,
        };
        for s in 0..state.rest.len() {
            if state.rest[s] > state.capacity {
                return Outcome::Infeasible;
            }
        }
        self.enter(state, whole);
        let mut spent = 0;
        loop {
            let current = self.frames.len() - 1;
            let frame = self.frames[current];
            if frame.candidate == frame.candidates_end {
                // This part cannot be placed: whatever made it has to be taken back.
                let parent = frame.open.parent;
                if parent == NONE {
                    *steps += spent;
                    return Outcome::Infeasible;
                }
                self.frames.truncate(parent as usize + 1);
                let above = &mut self.frames[parent as usize];
                if above.bare {
                    above.candidate = above.candidates_end;
                }
                let above = *above;
                state.undo(above.mark);
                self.candidates.truncate(above.candidates_end);
                self.pending.truncate(above.pending);
                self.lists.truncate(above.lists);
                continue;
            }
            if spent == limit {
                *steps += spent;
                return Outcome::Exhausted;
            }
            spent += 1;
            let (offset, index) = self.candidates[frame.candidate];
            let mark = state.mark();
            let (fits, covered) = state.place(index);
            let top = &mut self.frames[current];
            top.candidate += 1;
            if !fits {
                state.undo(mark);
                continue;
            }
            top.mark = mark;
            top.bare = !covered;
            top.pending = self.pending.len();
            top.lists = self.lists.len();
            self.open_rest(state, current, offset, index);
            match self.pending.pop() {
                Some(open) => self.enter(state, open),
                None => {
                    *steps += spent;
                    return Outcome::Found;
                }
            }
        }
    }

    /// Puts what is left of a frame's part on the pending stack, cut where nothing unplaced crosses.
    fn open_rest(&mut self, state: &State, frame: usize, offset: usize, index: u32) {
        let open = self.frames[frame].open;
        let e = state.entries[index as usize];
        let mut split = e.lo == open.lo || e.hi == open.hi;
        for s in e.lo + 1..e.hi {
            if state.crossing[s as usize] == 0 {
                split = true;
                break;
            }
        }
        let rest = Open { parent: frame as u32, offset, after: index, ..open };
        if !split {
            self.pending.push(rest);
            return;
        }
        let mut s = open.lo;
        while s < open.hi {
            if state.rest[s as usize] == 0 {
                s += 1;
                continue;
            }
            let lo = s;
            s += 1;
            while s < open.hi && state.crossing[s as usize] > 0 {
                s += 1;
            }
            let list = self.lists.len();
            for at in open.list..open.list_end {
                let other = self.lists[at];
                if state.least[other as usize] != super::state::PLACED {
                    let o = &state.entries[other as usize];
                    if o.lo >= lo && o.hi <= s {
                        self.lists.push(other);
                    }
                }
            }
            self.pending.push(Open { list, list_end: self.lists.len(), lo, hi: s, ..rest });
        }
    }

    /// Makes a part the present one: lists the entries that can come next.
    fn enter(&mut self, state: &State, open: Open) {
        let first = self.candidates.len();
        let mut lowest_top = usize::MAX;
        for &index in &self.lists[open.list..open.list_end] {
            let top = state.least[index as usize] + state.entries[index as usize].size;
            if top < lowest_top {
                lowest_top = top;
            }
        }
        let mut most = 0;
        for s in open.lo..open.hi {
            most = most.max(state.rest[s as usize]);
        }
        let highest = state.capacity - most;
        // An entry that could stand wholly below the others would be there in a canonical solution.
        if lowest_top > open.offset {
            for &index in &self.lists[open.list..open.list_end] {
                let least = state.least[index as usize];
                if least >= lowest_top || least < open.offset || least > highest {
                    continue;
                }
                if least == open.offset && open.after != NONE && index < open.after {
                    continue;
                }
                let twin = state.entries[index as usize].twin;
                if twin != NONE && state.least[twin as usize] != super::state::PLACED {
                    continue;
                }
                self.candidates.push((least, index));
            }
            self.candidates[first..].sort_unstable();
        }
        self.frames.push(Frame {
            open,
            candidate: first,
            candidates_end: self.candidates.len(),
            mark: Mark::default(),
            pending: 0,
            lists: 0,
            bare: false,
        });
    }
}
