//! Where in one arena each buffer goes: the least peak that the budget can find, and whether it is proved.
//! It knows lifetimes, sizes and alignments; it knows nothing of tensors, operators or graphs.

mod bound;
mod check;
mod fault;
mod greedy;
mod order;
mod problem;
mod search;
mod solve;
mod split;
mod sweep;

use alloc::vec::Vec;

pub use self::bound::lower_bound;
pub use self::check::check;
pub use self::fault::{Error, Fault};
pub use self::solve::solve;

/// One buffer to place: live during the half-open steps `lower..upper`, `size` bytes, at a multiple of `align`.
///
/// A buffer of no bytes, or with an empty lifetime, is legal: it occupies nothing and is placed at 0.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Buffer {
    /// First step at which the buffer is live.
    pub lower: usize,
    /// First step at which it is no longer live.
    pub upper: usize,
    /// Bytes.
    pub size: usize,
    /// Alignment of the offset in bytes, a power of two.
    pub align: usize,
    /// What of the buffer is in use when. Empty means all of it, always.
    pub parts: Vec<Part>,
}

impl Buffer {
    /// A buffer that is wholly in use during `lower..upper` and may stand at any byte.
    #[must_use]
    pub fn new(lower: usize, upper: usize, size: usize) -> Self {
        Self { lower, upper, size, align: 1, parts: Vec::new() }
    }
}

/// A stretch of a buffer's life: during `lower..upper` only the bytes `start..end` of it are in use.
///
/// An in-place successor that is smaller than its parent leaves the rest of the storage free; parts say so.
/// Parts of one buffer lie inside its lifetime and its size and do not overlap in time. At a step that no
/// part covers, nothing of the buffer is in use and others may take its bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Part {
    /// First step.
    pub lower: usize,
    /// First step after it.
    pub upper: usize,
    /// First byte in use, counted from the buffer's start.
    pub start: usize,
    /// First byte after those in use.
    pub end: usize,
}

/// How much search a solution may cost, in steps, so that the answer is the same on every machine.
///
/// One step is one buffer tried at one offset. Where more buffers overlap than usual a step takes longer, and a
/// budget buys fewer of them, but always enough to place every buffer twice.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Budget(u64);

impl Budget {
    /// No search at all: the best of the greedy orders.
    pub const GREEDY: Self = Self(0);
    /// The default: quick enough to run at every keystroke.
    pub const QUICK: Self = Self(30_000);
    /// For a plan that is worth seconds.
    pub const HIGH: Self = Self(3_000_000);

    /// A budget of so many steps.
    #[must_use]
    pub const fn steps(steps: u64) -> Self {
        Self(steps)
    }

    /// The number of steps.
    #[must_use]
    pub const fn get(self) -> u64 {
        self.0
    }
}

impl Default for Budget {
    fn default() -> Self {
        Self::QUICK
    }
}

/// What placed the buffers that decide the peak.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Method {
    /// Nothing had to be placed beside anything else.
    Trivial,
    /// A greedy order: its keys, most significant first (see `docs/planner.md`).
    Greedy(&'static str),
    /// The exact search under this static order, or under one that it learned.
    Search(&'static str),
}

impl core::fmt::Display for Method {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self {
            Self::Trivial => f.write_str("trivial"),
            Self::Greedy(keys) => write!(f, "greedy {keys}"),
            Self::Search(keys) => write!(f, "search {keys}"),
        }
    }
}

/// Offsets for every buffer, and how good they are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Solution {
    /// One offset per buffer, in the order given.
    pub offsets: Vec<usize>,
    /// Bytes the arena needs: the largest `offset + size` of a buffer that occupies anything.
    pub peak: usize,
    /// No placement can need less than this.
    pub lower_bound: usize,
    /// Proved: `peak` is the least possible.
    pub optimal: bool,
    /// Steps of search spent.
    pub search_steps: u64,
    /// What found the part of the placement that decides the peak.
    pub method: Method,
}
