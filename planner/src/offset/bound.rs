//! The lower bound: what is live at one step has to fit side by side.

use alloc::collections::BTreeMap;

use super::Buffer;
use super::sweep::{Event, Piece, events, pieces, validate};

/// The least arena that any placement can need: the largest sum of live bytes over time.
///
/// It is tightened for alignment. If every piece starts at a multiple of `a`, then of the pieces live at one
/// step all but the topmost take their size rounded up to `a`; so the bound is the sum of the rounded sizes
/// less the largest rounding. It saturates at `usize::MAX`. Buffers that [`solve`](super::solve) refuses have
/// no placement and no bound: the answer is `usize::MAX`.
#[must_use]
pub fn lower_bound(buffers: &[Buffer]) -> usize {
    if validate(buffers).is_err() {
        return usize::MAX;
    }
    let pieces = pieces(buffers);
    of_pieces(buffers, &pieces, &events(&pieces))
}

/// [`lower_bound`] where the pieces and their events are already at hand.
pub(super) fn of_pieces(buffers: &[Buffer], pieces: &[Piece], events: &[Event]) -> usize {
    let unit = common_unit(buffers, pieces);
    let mut largest = 0;
    // Sums are kept in u128, so that removing what was added is exact even where the total overflows.
    let mut sum = 0u128;
    let mut bound = 0u128;
    let mut roundings = BTreeMap::<usize, u32>::new();
    for (index, event) in events.iter().enumerate() {
        let piece = &pieces[event.piece as usize];
        let bytes = piece.end - piece.start;
        let rounding = (unit - bytes % unit) % unit;
        if !event.starts {
            sum -= bytes as u128 + rounding as u128;
            if rounding > 0 {
                let count = roundings.get_mut(&rounding).map_or(0, |count| {
                    *count -= 1;
                    *count
                });
                if count == 0 {
                    roundings.remove(&rounding);
                }
            }
            continue;
        }
        largest = largest.max(buffers[piece.owner as usize].size);
        sum += bytes as u128 + rounding as u128;
        if rounding > 0 {
            *roundings.entry(rounding).or_insert(0) += 1;
        }
        // A maximum stands only where the next event ends something.
        if events.get(index + 1).is_none_or(|next| !next.starts) {
            // With an exact multiple among the live pieces the topmost may still be a rounded one.
            let saved = roundings.keys().next_back().copied().unwrap_or(0);
            bound = bound.max(sum - saved as u128);
        }
    }
    usize::try_from(bound).unwrap_or(usize::MAX).max(largest)
}

/// The largest power of two that divides every address at which a piece can start.
fn common_unit(buffers: &[Buffer], pieces: &[Piece]) -> usize {
    let mut bits = 0;
    for piece in pieces {
        bits |= buffers[piece.owner as usize].align | piece.start;
    }
    if bits == 0 { 1 } else { 1 << bits.trailing_zeros() }
}
