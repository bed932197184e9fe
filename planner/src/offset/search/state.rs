//! The state of the exact search: what is placed, the least offset of what is not, and the floor of every
//! section, all of it undone by trails instead of copies.

use alloc::vec;
use alloc::vec::Vec;

use crate::offset::problem::Problem;

/// Least offset of what is already placed: larger than any real one, and safe to add a size to.
pub(super) const PLACED: usize = usize::MAX >> 1;

/// No such item.
pub(super) const NONE: u32 = u32::MAX;

/// An item as the search reads it. Items are numbered by the static order.
#[derive(Clone, Copy, Debug)]
pub(super) struct Entry {
    pub(super) size: usize,
    /// Alignment less one.
    pub(super) mask: usize,
    pub(super) lo: u32,
    pub(super) hi: u32,
    /// Position in the problem.
    pub(super) item: u32,
    /// The one before it among items with the same span, size and alignment, or `NONE`.
    pub(super) twin: u32,
}

/// Everything that placing changes, and what it needs to know.
#[derive(Debug)]
pub(super) struct State {
    pub(super) entries: Vec<Entry>,
    /// Entries that overlap entry `e` in time: `near[first_near[e]..first_near[e + 1]]`.
    first_near: Vec<u32>,
    near: Vec<u32>,
    /// Entries live in section `s`: `live[first_live[s]..first_live[s + 1]]`.
    first_live: Vec<u32>,
    live: Vec<u32>,
    /// The lowest offset that each entry can still take, `PLACED` for those that are placed.
    pub(super) least: Vec<usize>,
    pub(super) offsets: Vec<usize>,
    /// The lowest of the least offsets of what is unplaced in each section.
    floors: Vec<usize>,
    /// Unplaced bytes in each section.
    pub(super) rest: Vec<usize>,
    /// Unplaced entries that cross from the section before into this one.
    pub(super) crossing: Vec<u32>,
    pub(super) capacity: usize,
    least_trail: Vec<(u32, usize)>,
    floor_trail: Vec<(u32, usize)>,
    dirty: Vec<u32>,
    /// The round in which a section was last put on the dirty list.
    seen: Vec<u32>,
    round: u32,
}

/// How far the trails had grown.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Mark {
    least: usize,
    floor: usize,
}

impl State {
    pub(super) fn new(problem: &Problem, order: &[u32]) -> Self {
        let count = order.len();
        let sections = problem.totals.len();
        let mut entries = Vec::with_capacity(count);
        for &item in order {
            let it = &problem.items[item as usize];
            entries.push(Entry { size: it.size, mask: it.align - 1, lo: it.lo, hi: it.hi, item, twin: NONE });
        }
        let mut state = Self {
            least: vec![0; count],
            offsets: vec![0; count],
            floors: vec![0; sections],
            rest: vec![0; sections],
            crossing: vec![0; sections],
            seen: vec![0; sections],
            entries,
            first_near: Vec::new(),
            near: Vec::new(),
            first_live: Vec::new(),
            live: Vec::new(),
            capacity: 0,
            least_trail: Vec::new(),
            floor_trail: Vec::new(),
            dirty: Vec::new(),
            round: 0,
        };
        state.find_twins();
        state.list_sections(sections);
        state.list_neighbours();
        state
    }

    fn find_twins(&mut self) {
        let mut keyed = Vec::with_capacity(self.entries.len());
        for (index, e) in self.entries.iter().enumerate() {
            keyed.push((e.lo, e.hi, e.size, e.mask, index as u32));
        }
        keyed.sort_unstable();
        for pair in keyed.windows(2) {
            let (a, b) = (pair[0], pair[1]);
            if (a.0, a.1, a.2, a.3) == (b.0, b.1, b.2, b.3) {
                self.entries[b.4 as usize].twin = a.4;
            }
        }
    }

    fn list_sections(&mut self, sections: usize) {
        let mut first = vec![0u32; sections + 1];
        for e in &self.entries {
            for s in e.lo..e.hi {
                first[s as usize + 1] += 1;
                self.rest[s as usize] += e.size;
                if s > e.lo {
                    self.crossing[s as usize] += 1;
                }
            }
        }
        for s in 0..sections {
            first[s + 1] += first[s];
        }
        let mut at = first.clone();
        self.live.resize(first[sections] as usize, 0);
        for (index, e) in self.entries.iter().enumerate() {
            for s in e.lo..e.hi {
                self.live[at[s as usize] as usize] = index as u32;
                at[s as usize] += 1;
            }
        }
        self.first_live = first;
    }

    /// Two entries overlap exactly if they share a section; each pair is met in the later one's first section.
    fn list_neighbours(&mut self) {
        let count = self.entries.len();
        let mut seen = vec![NONE; count];
        self.first_near.reserve(count + 1);
        for index in 0..count {
            self.first_near.push(self.near.len() as u32);
            seen[index] = index as u32;
            for s in self.entries[index].lo..self.entries[index].hi {
                let from = self.first_live[s as usize] as usize;
                let to = self.first_live[s as usize + 1] as usize;
                for &other in &self.live[from..to] {
                    if seen[other as usize] != index as u32 {
                        seen[other as usize] = index as u32;
                        self.near.push(other);
                    }
                }
            }
        }
        self.first_near.push(self.near.len() as u32);
    }

    /// Where the trails stand.
    pub(super) fn mark(&self) -> Mark {
        Mark { least: self.least_trail.len(), floor: self.floor_trail.len() }
    }

    /// Places an entry at its least offset. Returns whether the rest can still fit, and whether anything
    /// unplaced overlaps the entry. The caller undoes it in either case.
    pub(super) fn place(&mut self, index: u32) -> (bool, bool) {
        let e = self.entries[index as usize];
        let offset = self.least[index as usize];
        let top = offset + e.size;
        self.offsets[index as usize] = offset;
        self.least_trail.push((index, offset));
        self.least[index as usize] = PLACED;
        self.round = self.round.wrapping_add(1);
        self.dirty.clear();
        for s in e.lo..e.hi {
            self.rest[s as usize] -= e.size;
            if s > e.lo {
                self.crossing[s as usize] -= 1;
            }
            self.seen[s as usize] = self.round;
            self.dirty.push(s);
        }
        let mut covered = false;
        let from = self.first_near[index as usize] as usize;
        let to = self.first_near[index as usize + 1] as usize;
        for at in from..to {
            let other = self.near[at] as usize;
            let old = self.least[other];
            if old == PLACED {
                continue;
            }
            covered = true;
            let o = self.entries[other];
            let new = (top + o.mask) & !o.mask;
            if new <= old {
                continue;
            }
            if new + o.size > self.capacity {
                return (false, true);
            }
            self.least_trail.push((other as u32, old));
            self.least[other] = new;
            for s in o.lo..o.hi {
                if self.floors[s as usize] >= old && self.seen[s as usize] != self.round {
                    self.seen[s as usize] = self.round;
                    self.dirty.push(s);
                }
            }
        }
        for at in 0..self.dirty.len() {
            let s = self.dirty[at] as usize;
            if self.rest[s] == 0 {
                continue;
            }
            let mut floor = PLACED;
            let from = self.first_live[s] as usize;
            let to = self.first_live[s + 1] as usize;
            for &other in &self.live[from..to] {
                let least = self.least[other as usize];
                if least < floor {
                    floor = least;
                }
            }
            if floor + self.rest[s] > self.capacity {
                return (false, covered);
            }
            if floor != self.floors[s] {
                self.floor_trail.push((s as u32, self.floors[s]));
                self.floors[s] = floor;
            }
        }
        (true, covered)
    }

    /// Takes back everything since the mark.
    pub(super) fn undo(&mut self, mark: Mark) {
        while self.floor_trail.len() > mark.floor {
            if let Some((s, old)) = self.floor_trail.pop() {
                self.floors[s as usize] = old;
            }
        }
        while self.least_trail.len() > mark.least {
            if let Some((index, old)) = self.least_trail.pop() {
                if self.least[index as usize] == PLACED {
                    let e = self.entries[index as usize];
                    for s in e.lo..e.hi {
                        self.rest[s as usize] += e.size;
                        if s > e.lo {
                            self.crossing[s as usize] += 1;
                        }
                    }
                }
                self.least[index as usize] = old;
            }
        }
    }
}
