//! From moments and bytes to a plane, and the ticks on its axes.
//!
//! What stays between two forwards is often most of the buffer, and never moves. Where it would press the rest together
//! it gets a band of its own at the bottom, with its own scale and a break above it.

use alloc::vec::Vec;

use crate::Plan;

/// The share of the height that the band of persistent bytes takes when it is drawn to its own scale.
const BAND: f64 = 0.22;
/// Height of the break between the two scales.
const BREAK: f64 = 12.0;

/// The plane that a plan is drawn on. Lengths are in the picture's own unit, bytes grow upwards.
pub(super) struct Scale {
    pub(super) left: f64,
    pub(super) top: f64,
    pub(super) width: f64,
    pub(super) height: f64,
    moments: usize,
    /// The highest byte drawn.
    pub(super) bytes: usize,
    /// The bytes with a scale of their own; zero when there is one scale.
    pub(super) base: usize,
}

impl Scale {
    /// A plane for that plan at that place.
    pub(super) fn new(plan: &Plan<'_>, [left, top, width, height]: [f64; 4]) -> Scale {
        let bytes = plan.size.max(plan.lower_bound).max(1);
        let persistent = plan.persistent.min(bytes);
        let split = persistent < bytes && persistent as f64 > BAND * bytes as f64;
        Scale { left, top, width, height, moments: plan.end() + 1, bytes, base: if split { persistent } else { 0 } }
    }

    /// The left edge of a moment; that of one after the last is the right edge of the plane.
    pub(super) fn x(&self, moment: usize) -> f64 {
        self.left + self.width * moment.min(self.moments) as f64 / self.moments as f64
    }

    /// How wide a moment is.
    pub(super) fn slot(&self) -> f64 {
        self.width / self.moments as f64
    }

    /// The bottom edge of what starts at that byte.
    pub(super) fn floor(&self, byte: usize) -> f64 {
        if byte < self.base { self.below(byte) } else { self.above(byte) }
    }

    /// The top edge of what ends before that byte.
    pub(super) fn ceiling(&self, byte: usize) -> f64 {
        if byte <= self.base && self.base > 0 { self.below(byte) } else { self.above(byte) }
    }

    /// The heights of the break's lower and upper edge, if the scale is broken.
    pub(super) fn gap(&self) -> Option<(f64, f64)> {
        (self.base > 0).then(|| (self.below(self.base), self.above(self.base)))
    }

    fn below(&self, byte: usize) -> f64 {
        self.top + self.height - self.height * BAND * byte as f64 / self.base as f64
    }

    fn above(&self, byte: usize) -> f64 {
        let (band, room) = if self.base > 0 {
            (self.height * BAND + BREAK, self.height * (1.0 - BAND) - BREAK)
        } else {
            (0.0, self.height)
        };
        let share = byte.saturating_sub(self.base).min(self.bytes - self.base) as f64 / (self.bytes - self.base) as f64;
        self.top + self.height - band - room * share
    }

    /// Offsets to mark, at least so far apart, from `self.base` up. They count from there.
    pub(super) fn upper_ticks(&self, apart: f64) -> Vec<usize> {
        let room = self.above(self.base) - self.top;
        ticks(self.bytes - self.base, room, apart)
    }

    /// Offsets to mark in the band with a scale of its own.
    pub(super) fn lower_ticks(&self, apart: f64) -> Vec<usize> {
        if self.base == 0 { Vec::new() } else { ticks(self.base, self.height * BAND, apart) }
    }

    /// The steps to number, at least so far apart.
    pub(super) fn steps(&self, apart: f64) -> Vec<usize> {
        let mut by = 1;
        for factor in [2, 5, 10].into_iter().cycle() {
            if by as f64 * self.slot() >= apart || by > self.moments {
                break;
            }
            by = match factor {
                2 => by * 2,
                5 => by / 2 * 5,
                _ => by * 2,
            };
        }
        (0..self.moments.saturating_sub(2)).step_by(by).collect()
    }
}

/// Multiples of the least power of two that keeps them so far apart, zero first.
fn ticks(bytes: usize, room: f64, apart: f64) -> Vec<usize> {
    let mut by = 1usize;
    while room * (by as f64) < apart * bytes as f64 {
        match by.checked_mul(2) {
            Some(twice) => by = twice,
            None => return Vec::from([0]),
        }
    }
    core::iter::successors(Some(0usize), |tick| tick.checked_add(by)).take_while(|&tick| tick <= bytes).collect()
}
