//! The state of the exact search: what is placed, the least offset of what is not, and the floor of every
//! section that is worth watching, all of it undone by trails instead of copies.

use alloc::vec;
use alloc::vec::Vec;

use super::sections::{list_live, watch};
use super::span::{Span, join};
use crate::offset::problem::Problem;

/// Least offset of what is already placed: larger than any real one, and safe to add a size to.
pub(super) const PLACED: usize = usize::MAX >> 1;

/// No such item.
pub(super) const NONE: u32 = u32::MAX;

/// An item as the search reads it, under its number in the problem.
#[derive(Clone, Copy, Debug)]
pub(super) struct Entry {
    pub(super) size: usize,
    /// Alignment less one.
    pub(super) mask: usize,
    /// Sections.
    pub(super) lo: u32,
    pub(super) hi: u32,
    /// Watched sections among them.
    pub(super) first: u32,
    pub(super) last: u32,
    /// The entries after this one, up to here, overlap it in time.
    later_end: u32,
    /// The one before it among entries with the same span, size and alignment, or `NONE`.
    pub(super) twin: u32,
}

/// Everything that placing changes, and what it needs to know.
#[derive(Debug)]
pub(super) struct State<'p> {
    problem: &'p Problem,
    pub(super) entries: Vec<Entry>,
    /// The number of watched sections before each section.
    pub(super) watched: Vec<u32>,
    /// Entries live in watched section `s`: `live[first_live[s]..first_live[s + 1]]`.
    first_live: Vec<u32>,
    live: Vec<u32>,
    /// The lowest offset that each entry can still take, `PLACED` for those that are placed.
    pub(super) least: Vec<usize>,
    /// The lowest offset that each entry can have in a canonical solution: its least offset, or, once it was
    /// passed over, what lies on the lowest neighbour that can still come under it.
    low: Vec<usize>,
    pub(super) offsets: Vec<usize>,
    /// The sections of each entry.
    pub(super) spans: Vec<Span>,
    /// The sections that each entry's low depends on.
    reach: Vec<Span>,
    /// The sections whose placements make the last failure.
    pub(super) conflict: Span,
    /// How often each entry was in the way.
    pub(super) blame: Vec<u64>,
    /// The lowest of the lows of what is unplaced in each watched section, and an entry that has it.
    floors: Vec<usize>,
    holders: Vec<u32>,
    /// Unplaced bytes in each watched section.
    pub(super) rest: Vec<usize>,
    /// Unplaced entries that cross from the section before into this one.
    pub(super) crossing: Vec<u32>,
    pub(super) capacity: usize,
    least_trail: Vec<(u32, usize)>,
    low_trail: Vec<(u32, usize)>,
    reach_trail: Vec<(u32, Span)>,
    floor_trail: Vec<(u32, u32, usize)>,
    /// Sections whose holder was raised or placed.
    dirty: Vec<u32>,
}

/// How far the trails had grown.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Mark {
    least: usize,
    low: usize,
    reach: usize,
    floor: usize,
}

impl<'p> State<'p> {
    /// The empty placement of a plain problem.
    pub(super) fn new(problem: &'p Problem) -> Self {
        let count = problem.items.len();
        let sections = problem.totals.len();
        let watched = watch(&problem.totals);
        let kept = watched[sections] as usize;
        let mut entries = Vec::with_capacity(count);
        let mut spans = Vec::with_capacity(count);
        let mut crossing = vec![0; sections];
        let mut rest = vec![0; kept];
        for (item, rect) in problem.items.iter().zip(&problem.rects) {
            let first = watched[item.lo as usize];
            let last = watched[item.hi as usize];
            for bytes in &mut rest[first as usize..last as usize] {
                *bytes += item.size;
            }
            for crossers in &mut crossing[item.lo as usize + 1..item.hi as usize] {
                *crossers += 1;
            }
            spans.push(super::span::of(item.lo, item.hi, sections));
            entries.push(Entry {
                size: item.size,
                mask: item.align - 1,
                lo: item.lo,
                hi: item.hi,
                first,
                last,
                later_end: rect.later_end,
                twin: NONE,
            });
        }
        let (first_live, live) = list_live(&entries, kept);
        let mut holders = Vec::with_capacity(kept);
        for &first in &first_live[..kept] {
            holders.push(live[first as usize]);
        }
        Self {
            problem,
            entries,
            watched,
            first_live,
            live,
            least: vec![0; count],
            low: vec![0; count],
            offsets: vec![0; count],
            reach: spans.clone(),
            spans,
            conflict: Span::default(),
            blame: vec![0; count],
            floors: vec![0; kept],
            holders,
            rest,
            crossing,
            capacity: 0,
            least_trail: Vec::new(),
            low_trail: Vec::new(),
            reach_trail: Vec::new(),
            floor_trail: Vec::new(),
            dirty: Vec::new(),
        }
    }

    /// Chains identical entries in the order of their ranks.
    pub(super) fn chain_twins(&mut self, rank: &[u32]) {
        let mut keyed = Vec::with_capacity(self.entries.len());
        for (index, e) in self.entries.iter_mut().enumerate() {
            e.twin = NONE;
            keyed.push((e.lo, e.hi, e.size, e.mask, rank[index], index as u32));
        }
        keyed.sort_unstable();
        for pair in keyed.windows(2) {
            let (a, b) = (pair[0], pair[1]);
            if (a.0, a.1, a.2, a.3) == (b.0, b.1, b.2, b.3) {
                self.entries[b.5 as usize].twin = a.5;
            }
        }
    }

    /// Where the trails stand.
    pub(super) fn mark(&self) -> Mark {
        Mark {
            least: self.least_trail.len(),
            low: self.low_trail.len(),
            reach: self.reach_trail.len(),
            floor: self.floor_trail.len(),
        }
    }

    /// Places an entry at its least offset. Returns whether the rest can still fit; the caller undoes it if not.
    pub(super) fn place(&mut self, index: u32) -> bool {
        let problem = self.problem;
        let at = index as usize;
        let e = self.entries[at];
        let offset = self.least[at];
        let top = offset + e.size;
        self.offsets[at] = offset;
        self.least_trail.push((index, offset));
        self.least[at] = PLACED;
        self.dirty.clear();
        self.raise(at, PLACED);
        for s in e.first..e.last {
            self.rest[s as usize] -= e.size;
        }
        for s in e.lo + 1..e.hi {
            self.crossing[s as usize] -= 1;
        }
        let from = problem.first_earlier[at];
        let to = problem.first_earlier[at + 1];
        for &other in &problem.earlier[from..to] {
            if self.least[other as usize] < top && !self.lift(other as usize, top) {
                return false;
            }
        }
        for other in at + 1..e.later_end as usize {
            if self.least[other] < top && !self.lift(other, top) {
                return false;
            }
        }
        self.refloor()
    }

    /// Raises an unplaced entry's least offset above `top`; returns whether it still fits.
    fn lift(&mut self, index: usize, top: usize) -> bool {
        let e = self.entries[index];
        let new = (top + e.mask) & !e.mask;
        if new + e.size > self.capacity {
            self.conflict = self.spans[index];
            return false;
        }
        self.least_trail.push((index as u32, self.least[index]));
        self.least[index] = new;
        if new > self.low[index] {
            if self.reach[index] != self.spans[index] {
                self.reach_trail.push((index as u32, self.reach[index]));
                self.reach[index] = self.spans[index];
            }
            self.raise(index, new);
        }
        true
    }

    /// Notes that an entry that could have come next does not: in a canonical solution it then lies on a
    /// neighbour that comes later, at `offset` or above. Returns whether the rest can still fit.
    pub(super) fn pass_over(&mut self, index: u32, offset: usize) -> bool {
        let problem = self.problem;
        let at = index as usize;
        let e = self.entries[at];
        let mut low = PLACED;
        let mut reach = self.reach[at];
        let from = problem.first_earlier[at];
        let to = problem.first_earlier[at + 1];
        for &other in &problem.earlier[from..to] {
            self.under(other as usize, offset, &mut low, &mut reach);
        }
        for other in at + 1..e.later_end as usize {
            self.under(other, offset, &mut low, &mut reach);
        }
        if low > self.capacity - e.size {
            self.conflict = reach;
            return false;
        }
        low = (low + e.mask) & !e.mask;
        if low <= self.low[at] {
            return true;
        }
        self.reach_trail.push((index, self.reach[at]));
        self.reach[at] = reach;
        self.dirty.clear();
        self.raise(at, low);
        self.refloor()
    }

    /// Lowers `low` to the top of an unplaced entry that cannot come below `offset`.
    fn under(&self, other: usize, offset: usize, low: &mut usize, reach: &mut Span) {
        let bottom = self.low[other];
        if bottom == PLACED {
            return;
        }
        join(reach, &self.reach[other]);
        let bottom = if bottom < offset { offset } else { bottom };
        let top = bottom + self.entries[other].size;
        if top < *low {
            *low = top;
        }
    }

    /// Raises an entry's low and lists the sections whose floor it held.
    fn raise(&mut self, index: usize, low: usize) {
        self.low_trail.push((index as u32, self.low[index]));
        self.low[index] = low;
        let e = &self.entries[index];
        for s in e.first..e.last {
            if self.holders[s as usize] == index as u32 {
                self.dirty.push(s);
            }
        }
    }

    /// Finds the floors of the listed sections again; returns whether what is unplaced fits above each.
    fn refloor(&mut self) -> bool {
        for at in 0..self.dirty.len() {
            let section = self.dirty[at];
            let s = section as usize;
            let rest = self.rest[s];
            if rest == 0 {
                continue;
            }
            let old = self.floors[s];
            let mut floor = PLACED;
            let mut holder = NONE;
            let from = self.first_live[s] as usize;
            let to = self.first_live[s + 1] as usize;
            for &other in &self.live[from..to] {
                let low = self.low[other as usize];
                if low < floor {
                    floor = low;
                    holder = other;
                    // Floors only rise.
                    if low == old {
                        break;
                    }
                }
            }
            if floor + rest > self.capacity {
                self.conflict = Span::default();
                for at in from..to {
                    let other = self.live[at] as usize;
                    if self.least[other] != PLACED {
                        join(&mut self.conflict, &self.reach[other]);
                        self.blame[other] += 1;
                    }
                }
                return false;
            }
            self.floor_trail.push((section, self.holders[s], old));
            self.floors[s] = floor;
            self.holders[s] = holder;
        }
        true
    }

    /// Adds what the unplaced entries of a watched section depend on.
    pub(super) fn join_section(&self, section: u32, span: &mut Span) {
        let from = self.first_live[section as usize] as usize;
        let to = self.first_live[section as usize + 1] as usize;
        for &other in &self.live[from..to] {
            if self.least[other as usize] != PLACED {
                join(span, &self.reach[other as usize]);
            }
        }
    }

    /// Takes back everything since the mark.
    pub(super) fn undo(&mut self, mark: Mark) {
        while self.floor_trail.len() > mark.floor {
            if let Some((s, holder, old)) = self.floor_trail.pop() {
                self.floors[s as usize] = old;
                self.holders[s as usize] = holder;
            }
        }
        while self.reach_trail.len() > mark.reach {
            if let Some((index, old)) = self.reach_trail.pop() {
                self.reach[index as usize] = old;
            }
        }
        while self.low_trail.len() > mark.low {
            if let Some((index, old)) = self.low_trail.pop() {
                self.low[index as usize] = old;
            }
        }
        while self.least_trail.len() > mark.least {
            if let Some((index, old)) = self.least_trail.pop() {
                if self.least[index as usize] == PLACED {
                    let e = self.entries[index as usize];
                    for s in e.first..e.last {
                        self.rest[s as usize] += e.size;
                    }
                    for s in e.lo + 1..e.hi {
                        self.crossing[s as usize] += 1;
                    }
                }
                self.least[index as usize] = old;
            }
        }
    }
}
