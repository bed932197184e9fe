//! Sets of a cell's tasks as bits. A mask stores only the words between its first and its last bit: what a task needs
//! stands close to it in the declared order.

use alloc::vec;
use alloc::vec::Vec;

/// A fixed set to be compared with changing ones.
#[derive(Clone, Debug, Default)]
pub(super) struct Mask {
    first: usize,
    words: Vec<u64>,
}

impl Mask {
    /// The set of these tasks, which are in ascending order.
    pub(super) fn new(tasks: &[u32]) -> Mask {
        let (Some(low), Some(high)) = (tasks.first(), tasks.last()) else { return Mask::default() };
        let first = *low as usize / 64;
        let mut words = vec![0; *high as usize / 64 + 1 - first];
        for task in tasks {
            words[*task as usize / 64 - first] |= 1 << (task % 64);
        }
        Mask { first, words }
    }

    /// True when all of it is in the set.
    pub(super) fn within(&self, set: &[u64]) -> bool {
        self.words.iter().zip(&set[self.first..]).all(|(word, other)| word & !other == 0)
    }

    /// True when all of it but that task is in the set.
    pub(super) fn within_but(&self, set: &[u64], task: u32) -> bool {
        let at = task as usize / 64;
        self.words.iter().enumerate().all(|(index, word)| {
            let missing = word & !set[self.first + index];
            missing == 0 || (self.first + index == at && missing & !(1 << (task % 64)) == 0)
        })
    }

    /// True when some of it is in the set.
    pub(super) fn meets(&self, set: &[u64]) -> bool {
        self.words.iter().zip(&set[self.first..]).any(|(word, other)| word & other != 0)
    }
}

pub(super) fn contains(set: &[u64], task: u32) -> bool {
    set[task as usize / 64] >> (task % 64) & 1 == 1
}

pub(super) fn insert(set: &mut [u64], task: u32) {
    set[task as usize / 64] |= 1 << (task % 64);
}

pub(super) fn remove(set: &mut [u64], task: u32) {
    set[task as usize / 64] &= !(1 << (task % 64));
}

pub(super) fn unite(set: &mut [u64], other: &[u64]) {
    for (word, other) in set.iter_mut().zip(other) {
        *word |= other;
    }
}

/// The first task of a set that is no less than `from`.
pub(super) fn next(set: &[u64], from: u32) -> Option<u32> {
    let first = from as usize / 64;
    let mut word = set.get(first)? & (u64::MAX << (from % 64));
    for index in first..set.len() {
        if word != 0 {
            return Some(index as u32 * 64 + word.trailing_zeros());
        }
        word = *set.get(index + 1)?;
    }
    None
}

/// The tasks of a set, ascending.
pub(super) fn members(set: &[u64]) -> impl Iterator<Item = u32> + '_ {
    set.iter().enumerate().flat_map(|(index, word)| {
        let mut rest = *word;
        core::iter::from_fn(move || {
            if rest == 0 {
                return None;
            }
            let bit = rest.trailing_zeros();
            rest &= rest - 1;
            Some(index as u32 * 64 + bit)
        })
    })
}
