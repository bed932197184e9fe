//! Cuts the input into parts that do not meet in time, and puts what lives through a whole part at its bottom.

use alloc::vec::Vec;

use super::Buffer;
use super::sweep::Piece;

/// Buffers that are connected in time, to be placed from `base` upwards.
#[derive(Debug)]
pub(super) struct Group {
    pub(super) members: Vec<u32>,
    pub(super) pieces: Vec<Piece>,
    pub(super) base: usize,
    level: u32,
}

/// Lifting out the whole-life buffers may disconnect the rest, and so on; a real input needs a few rounds.
const MOST_LEVELS: u32 = 64;

/// Cuts the pieces into groups. Buffers that live through their whole group are placed in `offsets`.
///
/// Such a buffer overlaps every other one of the group, so it can be slid to the bottom by letting down what
/// was under it. Alignment survives that if its size is a multiple of the largest alignment in the group.
/// Returns the groups, and the largest end of what was placed; `None` if it is more than a `usize` can count.
pub(super) fn split(buffers: &[Buffer], pieces: Vec<Piece>, offsets: &mut [usize]) -> Option<(Vec<Group>, usize)> {
    let mut done = Vec::new();
    let mut top = 0;
    let mut open = Vec::new();
    if !pieces.is_empty() {
        open.push(Group { members: Vec::new(), pieces, base: 0, level: 0 });
    }
    while let Some(group) = open.pop() {
        for mut part in disconnect(group) {
            let lifted = lift(buffers, &mut part, offsets)?;
            top = top.max(part.base);
            if part.pieces.is_empty() {
                continue;
            }
            if lifted && part.level < MOST_LEVELS {
                part.level += 1;
                open.push(part);
                continue;
            }
            for piece in &part.pieces {
                part.members.push(piece.owner);
            }
            part.members.sort_unstable();
            part.members.dedup();
            done.push(part);
        }
    }
    Some((done, top))
}

/// Cuts a group where no buffer crosses.
fn disconnect(group: Group) -> Vec<Group> {
    // A buffer in pieces holds its group together from its first piece to its last.
    let mut hulls = Vec::with_capacity(group.pieces.len());
    let mut pieces = group.pieces;
    pieces.sort_unstable_by_key(|piece| (piece.owner, piece.lower));
    let mut at = 0;
    while at < pieces.len() {
        let first = at;
        let mut upper = 0;
        while at < pieces.len() && pieces[at].owner == pieces[first].owner {
            upper = upper.max(pieces[at].upper);
            at += 1;
        }
        hulls.push((pieces[first].lower, upper, first, at));
    }
    hulls.sort_unstable();
    let mut groups = Vec::<Group>::new();
    let mut reach = 0;
    for (lower, upper, first, end) in hulls {
        if groups.is_empty() || lower >= reach {
            groups.push(Group { members: Vec::new(), pieces: Vec::new(), base: group.base, level: group.level });
        }
        reach = reach.max(upper);
        if let Some(last) = groups.last_mut() {
            last.pieces.extend_from_slice(&pieces[first..end]);
        }
    }
    groups
}

/// Places the buffers that live in every section of the group; returns whether there were any.
fn lift(buffers: &[Buffer], group: &mut Group, offsets: &mut [usize]) -> Option<bool> {
    let mut largest_align = 1;
    let mut first_end = usize::MAX;
    let mut last_start = 0;
    for piece in &group.pieces {
        largest_align = largest_align.max(buffers[piece.owner as usize].align);
        first_end = first_end.min(piece.upper);
        last_start = last_start.max(piece.lower);
    }
    let before = group.pieces.len();
    let mut kept = Vec::with_capacity(before);
    for &piece in &group.pieces {
        let buffer = &buffers[piece.owner as usize];
        let whole = piece.lower < first_end && piece.upper > last_start;
        let fills = piece.start == 0 && piece.end == buffer.size;
        if whole && fills && buffer.parts.len() <= 1 && buffer.size.is_multiple_of(largest_align) {
            offsets[piece.owner as usize] = group.base;
            group.base = group.base.checked_add(buffer.size)?;
        } else {
            kept.push(piece);
        }
    }
    group.pieces = kept;
    Some(group.pieces.len() < before)
}
