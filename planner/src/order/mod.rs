//! In which order tasks run: the least peak of live bytes that the budget can find, and whether it is proved.
//! It knows tasks, storages and sizes; it knows nothing of tensors, operators, offsets or graphs.

mod beam;
mod bound;
mod cell;
mod depth;
mod exact;
mod mask;
mod problem;
mod solve;
mod walk;

use alloc::vec::Vec;
use core::fmt;

pub use self::problem::peak;
pub use self::solve::solve;
pub use crate::offset::Budget;

/// A task of a [`Problem`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TaskId(u32);

/// A storage of a [`Problem`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct StorageId(u32);

macro_rules! index {
    ($id:ident) => {
        impl $id {
            /// The one at that position.
            ///
            /// # Panics
            /// From 2^32 on.
            #[must_use]
            pub fn new(index: usize) -> $id {
                $id(u32::try_from(index).expect("fewer than 2^32 of them"))
            }

            /// Position in the problem.
            #[must_use]
            pub const fn index(self) -> usize {
                self.0 as usize
            }
        }
    };
}
index!(TaskId);
index!(StorageId);

/// Something that runs once.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Task {
    /// Tasks that have to have run before.
    pub after: Vec<TaskId>,
    /// What it reads or writes, in whole or in part; a view counts as a use of what it looks at.
    pub touches: Vec<StorageId>,
    /// Bytes that it needs only while it runs.
    pub scratch: usize,
    /// Pairs of an old and a new storage: the new one takes the bytes of the old one, which is no smaller, where this task
    /// is the last that touches the old one and the first that touches the new one. A new storage takes the first old one
    /// that it can, and each serves one.
    pub in_place: Vec<(StorageId, StorageId)>,
}

/// Bytes. They count from the first task that touches them to the last, both included.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Storage {
    /// How many.
    pub size: usize,
    /// They count before the first task: a graph's input.
    pub from_start: bool,
    /// They count after the last task: a graph's output.
    pub to_end: bool,
}

/// Tasks in the declared order, in which they can run, and what they touch.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Problem {
    /// The tasks.
    pub tasks: Vec<Task>,
    /// The storages.
    pub storages: Vec<Storage>,
}

/// An order of the tasks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Solution {
    /// Every task once. It is the declared order unless another has a lower peak.
    pub order: Vec<TaskId>,
    /// Peak of live bytes in the declared order.
    pub declared: usize,
    /// Peak of live bytes in `order`.
    pub least: usize,
    /// No order has a lower peak than this.
    pub lower_bound: usize,
    /// True when `least` is the lower bound.
    pub proved: bool,
    /// What it cost. One step is one task looked at in one state, or eight words of a state kept.
    pub search_steps: u64,
}

/// What is wrong with a problem or an order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Error {
    /// A task is to run after one that is declared no earlier.
    After {
        /// The task.
        task: TaskId,
        /// What it is to run after.
        after: TaskId,
    },
    /// A task names a storage that is not there.
    NoStorage {
        /// The task.
        task: TaskId,
        /// What it names.
        storage: StorageId,
    },
    /// The bytes together are more than a `usize` can count.
    TooLarge,
    /// An order lacks a task, or has it twice, or before one that it has to come after.
    NotAnOrder,
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::After { task, after } => {
                write!(f, "task {} is to run after task {}, which is declared no earlier", task.0, after.0)
            }
            Error::NoStorage { task, storage } => {
                write!(f, "task {} names storage {}, which is not there", task.0, storage.0)
            }
            Error::TooLarge => f.write_str("the bytes together are more than an address can count"),
            Error::NotAnOrder => f.write_str("not every task once, each after those that it depends on"),
        }
    }
}

impl core::error::Error for Error {}
