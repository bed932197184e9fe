//! Buffers as pieces (rectangles in time and bytes), and the events of time that start and end them.

use alloc::vec::Vec;

use super::{Buffer, Error};

/// A rectangle that is in use: `lower..upper` in time, `start..end` in bytes of its buffer.
#[derive(Clone, Copy, Debug)]
pub(super) struct Piece {
    pub(super) owner: u32,
    pub(super) lower: usize,
    pub(super) upper: usize,
    pub(super) start: usize,
    pub(super) end: usize,
}

/// The pieces that occupy anything, by owner. Assumes that `validate` passed.
pub(super) fn pieces(buffers: &[Buffer]) -> Vec<Piece> {
    let mut pieces = Vec::with_capacity(buffers.len());
    for (index, buffer) in buffers.iter().enumerate() {
        let owner = index as u32;
        if buffer.parts.is_empty() {
            if buffer.lower < buffer.upper && buffer.size > 0 {
                pieces.push(Piece { owner, lower: buffer.lower, upper: buffer.upper, start: 0, end: buffer.size });
            }
            continue;
        }
        for part in &buffer.parts {
            if part.lower < part.upper && part.start < part.end {
                pieces.push(Piece { owner, lower: part.lower, upper: part.upper, start: part.start, end: part.end });
            }
        }
    }
    pieces
}

/// Refuses what cannot be placed or bounded soundly.
pub(super) fn validate(buffers: &[Buffer]) -> Result<(), Error> {
    let parts = buffers.iter().fold(0usize, |sum, b| sum.saturating_add(b.parts.len().max(1)));
    if parts > (u32::MAX / 2) as usize {
        return Err(Error::TooMany);
    }
    for (index, buffer) in buffers.iter().enumerate() {
        if !buffer.align.is_power_of_two() {
            return Err(Error::Align { buffer: index, align: buffer.align });
        }
        let mut spans = Vec::with_capacity(buffer.parts.len());
        for (number, part) in buffer.parts.iter().enumerate() {
            if part.lower >= part.upper || part.start >= part.end {
                continue;
            }
            if part.lower < buffer.lower || part.upper > buffer.upper || part.end > buffer.size {
                return Err(Error::Part { buffer: index, part: number });
            }
            spans.push((part.lower, part.upper, number));
        }
        spans.sort_unstable();
        for pair in spans.windows(2) {
            if pair[1].0 < pair[0].1 {
                return Err(Error::Part { buffer: index, part: pair[1].2 });
            }
        }
    }
    Ok(())
}

/// A moment at which a piece starts or ends.
#[derive(Clone, Copy, Debug)]
pub(super) struct Event {
    pub(super) starts: bool,
    pub(super) piece: u32,
}

/// All starts and ends in the order of time; at one moment the ends come first, because lifetimes are half-open.
pub(super) fn events(pieces: &[Piece]) -> Vec<Event> {
    let mut keyed = Vec::with_capacity(pieces.len() * 2);
    for (index, piece) in pieces.iter().enumerate() {
        keyed.push((piece.lower, true, index as u32));
        keyed.push((piece.upper, false, index as u32));
    }
    keyed.sort_unstable();
    let mut events = Vec::with_capacity(keyed.len());
    for (_, starts, piece) in keyed {
        events.push(Event { starts, piece });
    }
    events
}
