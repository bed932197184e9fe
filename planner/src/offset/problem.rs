//! One connected part of the input in the form the solvers want: items and pieces numbered by start, time
//! cut down to the sections that matter, and for each piece the earlier ones that it overlaps.

use alloc::vec;
use alloc::vec::Vec;

use super::Buffer;
use super::sweep::{Piece, events};

/// A buffer to place.
#[derive(Clone, Debug)]
pub(super) struct Item {
    /// Position in the input.
    pub(super) buffer: u32,
    /// First section and the one after the last.
    pub(super) lo: u32,
    pub(super) hi: u32,
    /// First step in use and the one after the last.
    pub(super) lower: usize,
    pub(super) upper: usize,
    pub(super) size: usize,
    pub(super) align: usize,
}

/// A rectangle of an item, in sections and bytes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rect {
    pub(super) item: u32,
    pub(super) lo: u32,
    pub(super) hi: u32,
    pub(super) start: usize,
    pub(super) end: usize,
    /// The rectangles after this one, up to here, overlap it in time.
    pub(super) later_end: u32,
}

/// Overlapping pairs listed at most, four bytes each.
const MOST_PAIRS: usize = 1 << 25;

/// Items that are tied together in time.
///
/// A section is a maximal set of pieces that are live together: only these matter, since what holds in a
/// set holds in its subsets. Two pieces overlap in time exactly if they share a section.
#[derive(Clone, Debug, Default)]
pub(super) struct Problem {
    pub(super) items: Vec<Item>,
    pub(super) rects: Vec<Rect>,
    /// For each item the range `item_rects[first_rect[i]..first_rect[i + 1]]` of its rectangles.
    pub(super) first_rect: Vec<u32>,
    pub(super) item_rects: Vec<u32>,
    /// For each rectangle the range `earlier[first_earlier[r]..first_earlier[r + 1]]` of those that started
    /// before it and overlap it. Those after it are `r + 1..later_end`.
    pub(super) first_earlier: Vec<usize>,
    pub(super) earlier: Vec<u32>,
    /// Whether those lists are there: not for a problem that is too large for them.
    pub(super) linked: bool,
    /// For each rectangle the section after its last.
    pub(super) ends: Vec<u32>,
    /// Live bytes in each section.
    pub(super) totals: Vec<usize>,
    /// Number of overlapping pieces, by item.
    pub(super) degree: Vec<u32>,
    /// Every item is one rectangle that fills it, so that rectangle `i` is item `i`.
    pub(super) plain: bool,
}

impl Problem {
    /// Builds the problem of the buffers `members`, whose pieces are `pieces` (owners are input positions).
    pub(super) fn new(buffers: &[Buffer], members: &[u32], pieces: &[Piece]) -> Self {
        let mut problem = Self::default();
        let spans = problem.cut_time(pieces);
        problem.number(buffers, members, pieces, &spans);
        problem.link();
        problem
    }

    /// The same with every item one rectangle from its first step to its last.
    pub(super) fn whole(buffers: &[Buffer], members: &[u32], pieces: &[Piece]) -> Self {
        let mut hulls = Vec::<Piece>::with_capacity(members.len());
        let mut sorted = pieces.to_vec();
        sorted.sort_unstable_by_key(|piece| piece.owner);
        for piece in sorted {
            let size = buffers[piece.owner as usize].size;
            match hulls.last_mut() {
                Some(last) if last.owner == piece.owner => {
                    last.lower = last.lower.min(piece.lower);
                    last.upper = last.upper.max(piece.upper);
                }
                _ => hulls.push(Piece { start: 0, end: size, ..piece }),
            }
        }
        Self::new(buffers, members, &hulls)
    }

    /// Finds the sections; returns each piece's range of them.
    fn cut_time(&mut self, pieces: &[Piece]) -> Vec<(u32, u32)> {
        let mut spans = vec![(0, 0); pieces.len()];
        let mut live = 0usize;
        let mut grew = false;
        for event in events(pieces) {
            let index = event.piece as usize;
            let bytes = pieces[index].end - pieces[index].start;
            if event.starts {
                spans[index].0 = self.totals.len() as u32;
                live = live.saturating_add(bytes);
                grew = true;
            } else {
                if grew {
                    self.totals.push(live);
                    grew = false;
                }
                spans[index].1 = self.totals.len() as u32;
                live = live.saturating_sub(bytes);
            }
        }
        spans
    }

    /// Numbers items and rectangles by their first section.
    fn number(&mut self, buffers: &[Buffer], members: &[u32], pieces: &[Piece], spans: &[(u32, u32)]) {
        let mut by_buffer = Vec::with_capacity(pieces.len());
        for (index, piece) in pieces.iter().enumerate() {
            by_buffer.push((piece.owner, index as u32));
        }
        by_buffer.sort_unstable();
        self.items.reserve(members.len());
        self.plain = by_buffer.len() == members.len();
        let mut at = 0;
        while at < by_buffer.len() {
            let owner = by_buffer[at].0;
            let buffer = &buffers[owner as usize];
            let mut item = Item {
                buffer: owner,
                lo: u32::MAX,
                hi: 0,
                lower: usize::MAX,
                upper: 0,
                size: buffer.size,
                align: buffer.align,
            };
            while at < by_buffer.len() && by_buffer[at].0 == owner {
                let index = by_buffer[at].1 as usize;
                item.lo = item.lo.min(spans[index].0);
                item.hi = item.hi.max(spans[index].1);
                item.lower = item.lower.min(pieces[index].lower);
                item.upper = item.upper.max(pieces[index].upper);
                self.plain &= pieces[index].start == 0 && pieces[index].end == buffer.size;
                at += 1;
            }
            self.items.push(item);
        }
        self.items.sort_unstable_by_key(|item| (item.lo, item.hi, item.buffer));

        let largest = self.items.iter().map(|item| item.buffer).max().map_or(0, |b| b as usize + 1);
        let mut item_of = vec![0u32; largest];
        for (index, item) in self.items.iter().enumerate() {
            item_of[item.buffer as usize] = index as u32;
        }
        for (piece, &(lo, hi)) in pieces.iter().zip(spans) {
            let item = item_of[piece.owner as usize];
            self.rects.push(Rect { item, lo, hi, start: piece.start, end: piece.end, later_end: 0 });
        }
        self.rects.sort_unstable_by_key(|rect| (rect.lo, rect.item));

        let mut by_item = Vec::with_capacity(self.rects.len());
        for (index, rect) in self.rects.iter().enumerate() {
            by_item.push((rect.item, index as u32));
        }
        by_item.sort_unstable();
        self.first_rect.push(0);
        for (at, &(item, rect)) in by_item.iter().enumerate() {
            while self.first_rect.len() <= item as usize {
                self.first_rect.push(at as u32);
            }
            self.item_rects.push(rect);
        }
        while self.first_rect.len() <= self.items.len() {
            self.first_rect.push(self.item_rects.len() as u32);
        }
    }

    /// Finds what overlaps what.
    fn link(&mut self) {
        let sections = self.totals.len();
        let mut first_in_section = Vec::with_capacity(sections + 1);
        let mut ended = vec![0usize; sections + 1];
        for (index, rect) in self.rects.iter().enumerate() {
            while first_in_section.len() <= rect.lo as usize {
                first_in_section.push(index as u32);
            }
            ended[rect.hi as usize] += 1;
            self.ends.push(rect.hi);
        }
        while first_in_section.len() <= sections {
            first_in_section.push(self.rects.len() as u32);
        }
        for s in 0..sections {
            ended[s + 1] += ended[s];
        }
        self.degree.resize(self.items.len(), 0);
        let mut pairs = 0usize;
        for (index, rect) in self.rects.iter_mut().enumerate() {
            rect.later_end = first_in_section[rect.hi as usize];
            let earlier = index - ended[rect.lo as usize];
            pairs = pairs.saturating_add(earlier);
            let later = rect.later_end as usize - index - 1;
            self.degree[rect.item as usize] += (earlier + later) as u32;
        }
        self.linked = pairs <= MOST_PAIRS;
        if self.linked {
            self.list_earlier(pairs);
        }
    }

    fn list_earlier(&mut self, pairs: usize) {
        self.earlier.reserve_exact(pairs);
        let mut live = Vec::<u32>::new();
        for index in 0..self.ends.len() {
            let lo = self.rects[index].lo;
            self.first_earlier.push(self.earlier.len());
            let mut kept = 0;
            for at in 0..live.len() {
                let other = live[at];
                if self.ends[other as usize] > lo {
                    live[kept] = other;
                    kept += 1;
                }
            }
            live.truncate(kept);
            self.earlier.extend_from_slice(&live);
            live.push(index as u32);
        }
        self.first_earlier.push(self.earlier.len());
    }

    /// The largest total among an item's sections.
    pub(super) fn largest_total(&self, item: usize) -> usize {
        let it = &self.items[item];
        let mut largest = 0;
        for &total in &self.totals[it.lo as usize..it.hi as usize] {
            largest = largest.max(total);
        }
        largest
    }
}
