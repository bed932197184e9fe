//! What can be wrong with buffers before they are placed, and with a placement afterwards.

use core::fmt;

/// Why no placement was made. Buffers are named by their position in the input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Error {
    /// The alignment is not a power of two.
    Align {
        /// Position of the buffer.
        buffer: usize,
        /// Its alignment.
        align: usize,
    },
    /// A part leaves its buffer's lifetime or size, or two parts share a step.
    Part {
        /// Position of the buffer.
        buffer: usize,
        /// Position of the part in it.
        part: usize,
    },
    /// The arena would need more bytes than `usize` can count.
    TooLarge {
        /// The buffer that no longer fitted.
        buffer: usize,
    },
    /// There are more buffers (or parts) than the planner can number.
    TooMany,
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Align { buffer, align } => {
                write!(f, "buffer {buffer}: alignment {align} is not a power of two")
            }
            Self::Part { buffer, part } => write!(
                f,
                "buffer {buffer}: part {part} leaves the buffer's lifetime or size, or shares a step with another part"
            ),
            Self::TooLarge { buffer } => {
                write!(f, "buffer {buffer}: the arena would need more bytes than a usize can count")
            }
            Self::TooMany => f.write_str("more than 2^31 buffers"),
        }
    }
}

impl core::error::Error for Error {}

/// What [`check`](super::check) found wrong with a placement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Fault {
    /// There is not one offset for each buffer.
    Count {
        /// Number of buffers.
        buffers: usize,
        /// Number of offsets.
        offsets: usize,
    },
    /// An offset is not a multiple of the buffer's alignment.
    Misaligned {
        /// Position of the buffer.
        buffer: usize,
    },
    /// `offset + size` is more than `usize` can count.
    PastEnd {
        /// Position of the buffer.
        buffer: usize,
    },
    /// Two buffers use the same byte at the same step.
    Overlap {
        /// Position of one buffer.
        a: usize,
        /// Position of the other.
        b: usize,
        /// A step at which both are in use.
        step: usize,
        /// A byte of the arena that both use then.
        byte: usize,
    },
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Count { buffers, offsets } => {
                write!(f, "{offsets} offsets for {buffers} buffers")
            }
            Self::Misaligned { buffer } => write!(f, "buffer {buffer} is not aligned"),
            Self::PastEnd { buffer } => {
                write!(f, "buffer {buffer} ends beyond what a usize can count")
            }
            Self::Overlap { a, b, step, byte } => {
                write!(f, "buffers {a} and {b} both use byte {byte} at step {step}")
            }
        }
    }
}

impl core::error::Error for Fault {}
