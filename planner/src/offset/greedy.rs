//! Greedy placement: buffers in a given order, each into a hole of what is already there.

use alloc::vec::Vec;

use super::problem::Problem;

/// Which hole a buffer takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fit {
    /// The lowest.
    First,
    /// The smallest, the lowest among equals; the top only if there is no hole.
    Best,
}

/// Working space of greedy placement, kept between runs.
#[derive(Debug, Default)]
pub(super) struct Greedy {
    pub(super) offsets: Vec<usize>,
    placed: Vec<bool>,
    blocked: Vec<(usize, usize)>,
}

/// `offset` rounded up to a multiple of the power of two `align`; `None` on overflow.
pub(super) fn align_up(offset: usize, align: usize) -> Option<usize> {
    Some(offset.checked_add(align - 1)? & !(align - 1))
}

impl Greedy {
    /// Places all items in `order`; gives the peak, or `None` as soon as it would reach `limit`.
    pub(super) fn run(&mut self, problem: &Problem, order: &[u32], fit: Fit, limit: usize) -> Option<usize> {
        self.offsets.clear();
        self.offsets.resize(problem.items.len(), 0);
        self.placed.clear();
        self.placed.resize(problem.items.len(), false);
        let mut peak = 0;
        for &item in order {
            let index = item as usize;
            self.collect(problem, index);
            let offset = self.hole(problem.items[index].size, problem.items[index].align, fit)?;
            let top = offset.checked_add(problem.items[index].size)?;
            if top >= limit {
                return None;
            }
            peak = peak.max(top);
            self.offsets[index] = offset;
            self.placed[index] = true;
        }
        Some(peak)
    }

    /// Gathers the ranges of offsets that the item may not take, sorted.
    fn collect(&mut self, problem: &Problem, item: usize) {
        self.blocked.clear();
        let first = problem.first_rect[item] as usize;
        let end = problem.first_rect[item + 1] as usize;
        for &rect in &problem.item_rects[first..end] {
            let index = rect as usize;
            let own_start = problem.rects[index].start;
            let own_end = problem.rects[index].end;
            if problem.linked {
                let from = problem.first_earlier[index];
                let to = problem.first_earlier[index + 1];
                for &other in &problem.earlier[from..to] {
                    self.block(problem, other as usize, own_start, own_end);
                }
            } else {
                let lo = problem.rects[index].lo;
                for (other, &end) in problem.ends[..index].iter().enumerate() {
                    if end > lo {
                        self.block(problem, other, own_start, own_end);
                    }
                }
            }
            for other in index + 1..problem.rects[index].later_end as usize {
                self.block(problem, other, own_start, own_end);
            }
        }
        self.blocked.sort_unstable();
    }

    /// Adds the offsets at which bytes `start..end` of the new item would meet the rectangle `other`.
    fn block(&mut self, problem: &Problem, other: usize, start: usize, end: usize) {
        let rect = &problem.rects[other];
        let owner = rect.item as usize;
        if !self.placed[owner] {
            return;
        }
        let bottom = self.offsets[owner] + rect.start;
        let top = self.offsets[owner] + rect.end;
        let from = if bottom >= end { bottom - end + 1 } else { 0 };
        self.blocked.push((from, top.saturating_sub(start)));
    }

    /// The offset for an item, given the blocked ranges: the lowest free one, or the one in the tightest hole.
    fn hole(&self, size: usize, align: usize, fit: Fit) -> Option<usize> {
        let _ = size;
        let mut offset = 0;
        let mut best = None;
        let mut tightest = usize::MAX;
        for &(from, to) in &self.blocked {
            if offset < from {
                let spare = from - 1 - offset;
                if fit == Fit::First {
                    return Some(offset);
                }
                if spare < tightest {
                    tightest = spare;
                    best = Some(offset);
                }
            }
            if to > offset {
                offset = align_up(to, align)?;
            }
        }
        Some(best.unwrap_or(offset))
    }
}
