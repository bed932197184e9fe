//! The tree of the exact search, walked with an explicit stack: which entry comes next, where the problem
//! falls apart, and where to go back to.

use alloc::vec::Vec;

use super::span::{Span, join, meet};
use super::state::{Mark, NONE, PLACED, State};

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
    /// The range of the lists that holds them, along with some that were placed since.
    list: usize,
    list_end: usize,
    /// How many are unplaced.
    left: usize,
    lo: u32,
    hi: u32,
    /// The frame whose placement made it.
    parent: u32,
    offset: usize,
    /// At `offset` itself only entries of this rank or above come next.
    rank: u32,
}

/// A decision: one of the candidates is next.
#[derive(Clone, Copy, Debug)]
struct Frame {
    open: Open,
    candidate: usize,
    candidates_end: usize,
    /// The sections whose placements made the candidates so far fail.
    conflict: Span,
    /// Lengths of the stacks before the present candidate was placed.
    mark: Mark,
    pending: usize,
    lists: usize,
}

/// An entry that can come next.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Candidate {
    offset: usize,
    rank: u32,
    index: u32,
}

/// The stacks of a search, kept between searches.
#[derive(Debug, Default)]
pub(super) struct Tree {
    frames: Vec<Frame>,
    pending: Vec<Open>,
    lists: Vec<u32>,
    candidates: Vec<Candidate>,
    /// For each section the part it belongs to, while an open part is cut.
    part_of: Vec<u32>,
    parts: Vec<Open>,
}

impl Tree {
    /// Searches for a placement of everything within `state.capacity`, in at most `limit` steps. Among
    /// entries that can stand equally low, the one of the lowest rank is tried first.
    pub(super) fn run(&mut self, state: &mut State<'_>, rank: &[u32], limit: u64, steps: &mut u64) -> Outcome {
        let start = state.mark();
        let outcome = self.walk(state, rank, limit, steps);
        // The offsets of a solution stay; all else is as before.
        state.undo(start);
        outcome
    }

    fn walk(&mut self, state: &mut State<'_>, rank: &[u32], limit: u64, steps: &mut u64) -> Outcome {
        self.frames.clear();
        self.pending.clear();
        self.lists.clear();
        self.candidates.clear();
        for &rest in &state.rest {
            if rest > state.capacity {
                return Outcome::Infeasible;
            }
        }
        let count = state.entries.len();
        for index in 0..count {
            self.lists.push(index as u32);
        }
        let hi = state.crossing.len() as u32;
        let whole = Open { list: 0, list_end: count, left: count, lo: 0, hi, parent: NONE, offset: 0, rank: 0 };
        self.enter(state, rank, whole);
        let end = steps.saturating_add(limit);
        loop {
            let current = self.frames.len() - 1;
            let frame = self.frames[current];
            if frame.candidate == frame.candidates_end {
                if !self.back(state, &frame) {
                    return Outcome::Infeasible;
                }
                continue;
            }
            if *steps >= end {
                return Outcome::Exhausted;
            }
            *steps += 1;
            let candidate = self.candidates[frame.candidate];
            let mark = state.mark();
            if !state.place(candidate.index) {
                state.undo(mark);
                let conflict = state.conflict;
                self.refuse(state, current, &conflict);
                continue;
            }
            let top = &mut self.frames[current];
            top.mark = mark;
            top.pending = self.pending.len();
            top.lists = self.lists.len();
            self.open_rest(state, current, candidate);
            match self.pending.pop() {
                Some(open) => self.enter(state, rank, open),
                None => return Outcome::Found,
            }
        }
    }

    /// Goes back from a part that cannot be placed to the last decision that has to do with it; what has no
    /// part in the failure is taken back on the way. Returns whether there is such a decision.
    fn back(&mut self, state: &mut State<'_>, failed: &Frame) -> bool {
        let mut parent = failed.open.parent;
        while parent != NONE {
            let above = &self.frames[parent as usize];
            let index = self.candidates[above.candidate].index;
            if meet(&failed.conflict, &above.conflict) || meet(&failed.conflict, &state.spans[index as usize]) {
                break;
            }
            parent = above.open.parent;
        }
        if parent == NONE {
            return false;
        }
        self.frames.truncate(parent as usize + 1);
        let above = self.frames[parent as usize];
        state.undo(above.mark);
        self.candidates.truncate(above.candidates_end);
        self.pending.truncate(above.pending);
        self.lists.truncate(above.lists);
        self.refuse(state, parent as usize, &failed.conflict);
        true
    }

    /// Goes on to a frame's next candidate, or to its end where passing over the present one is enough to fail.
    fn refuse(&mut self, state: &mut State<'_>, frame: usize, conflict: &Span) {
        let frame = &mut self.frames[frame];
        let index = self.candidates[frame.candidate].index;
        join(&mut frame.conflict, conflict);
        join(&mut frame.conflict, &state.spans[index as usize]);
        frame.candidate += 1;
        if frame.candidate < frame.candidates_end && !state.pass_over(index, self.candidates[frame.candidate].offset) {
            join(&mut frame.conflict, &state.conflict);
            frame.candidate = frame.candidates_end;
        }
    }

    /// Puts what is left of a frame's part on the pending stack, cut where nothing unplaced crosses.
    fn open_rest(&mut self, state: &State<'_>, frame: usize, placed: Candidate) {
        let mut open = self.frames[frame].open;
        open.left -= 1;
        if open.left == 0 {
            return;
        }
        open.parent = frame as u32;
        open.offset = placed.offset;
        open.rank = placed.rank;
        let e = &state.entries[placed.index as usize];
        let mut cut = false;
        for s in e.lo + 1..e.hi {
            if state.crossing[s as usize] == 0 {
                cut = true;
                break;
            }
        }
        if cut {
            self.cut(state, open);
            return;
        }
        if open.list_end - open.list > 2 * open.left {
            let list = self.lists.len();
            for at in open.list..open.list_end {
                let index = self.lists[at];
                if state.least[index as usize] != PLACED {
                    self.lists.push(index);
                }
            }
            open.list = list;
            open.list_end = self.lists.len();
        }
        self.pending.push(open);
    }

    /// Cuts a part wherever nothing unplaced crosses.
    fn cut(&mut self, state: &State<'_>, open: Open) {
        self.parts.clear();
        self.part_of.resize(state.crossing.len(), 0);
        for s in open.lo..open.hi {
            if s == open.lo || state.crossing[s as usize] == 0 {
                self.parts.push(Open { left: 0, lo: s, ..open });
            }
            let part = self.parts.len() - 1;
            self.parts[part].hi = s + 1;
            self.part_of[s as usize] = part as u32;
        }
        for at in open.list..open.list_end {
            let index = self.lists[at] as usize;
            if state.least[index] != PLACED {
                let part = self.part_of[state.entries[index].lo as usize];
                self.parts[part as usize].left += 1;
            }
        }
        let mut list = self.lists.len();
        for part in &mut self.parts {
            part.list = list;
            part.list_end = list;
            list += part.left;
        }
        self.lists.resize(list, 0);
        for at in open.list..open.list_end {
            let index = self.lists[at];
            if state.least[index as usize] != PLACED {
                let part = self.part_of[state.entries[index as usize].lo as usize];
                let part = &mut self.parts[part as usize];
                self.lists[part.list_end] = index;
                part.list_end += 1;
            }
        }
        for part in &self.parts {
            if part.left > 0 {
                self.pending.push(*part);
            }
        }
    }

    /// Makes a part the present one: lists the entries that can come next.
    fn enter(&mut self, state: &State<'_>, rank: &[u32], open: Open) {
        let first = self.candidates.len();
        let mut conflict = Span::default();
        let mut most = 0;
        let watched = state.watched[open.lo as usize]..state.watched[open.hi as usize];
        let mut fullest = watched.start;
        for s in watched.clone() {
            if state.rest[s as usize] > most {
                most = state.rest[s as usize];
                fullest = s;
            }
        }
        // All that is unplaced comes at or above what comes next.
        let highest = state.capacity - most;
        let mut held = false;
        let mut lowest_top = PLACED;
        let mut lowest = NONE;
        for at in open.list..open.list_end {
            let index = self.lists[at];
            let offset = state.least[index as usize];
            if offset >= lowest_top {
                continue;
            }
            let e = &state.entries[index as usize];
            let top = offset + e.size;
            if top < lowest_top {
                lowest_top = top;
                lowest = index;
            }
            if offset < open.offset {
                continue;
            }
            if offset > highest {
                held = true;
                continue;
            }
            let rank = rank[index as usize];
            if offset == open.offset && rank < open.rank {
                continue;
            }
            if e.twin != NONE && state.least[e.twin as usize] != PLACED {
                continue;
            }
            self.candidates.push(Candidate { offset, rank, index });
        }
        if lowest_top <= open.offset {
            // Something passed over could stand wholly below what comes next, and in a canonical solution it
            // would.
            self.candidates.truncate(first);
            join(&mut conflict, &state.spans[lowest as usize]);
        } else {
            // An entry at or above the lowest top leaves room for the one that has it: that one comes first.
            let mut kept = first;
            for at in first..self.candidates.len() {
                if self.candidates[at].offset < lowest_top {
                    self.candidates[kept] = self.candidates[at];
                    kept += 1;
                }
            }
            self.candidates.truncate(kept);
            self.candidates[first..].sort_unstable();
        }
        if (held || self.candidates.len() == first) && !watched.is_empty() {
            state.join_section(fullest, &mut conflict);
        }
        self.frames.push(Frame {
            open,
            candidate: first,
            candidates_end: self.candidates.len(),
            conflict,
            mark: Mark::default(),
            pending: 0,
            lists: 0,
        });
    }
}
