//! The independent check of a placement: quadratic, obvious, and ignorant of how offsets are found.

use super::{Buffer, Fault, Part};

/// Checks that every offset is aligned and that no byte is used by two buffers at the same step.
///
/// # Errors
/// The first [`Fault`] in input order.
pub fn check(buffers: &[Buffer], offsets: &[usize]) -> Result<(), Fault> {
    if buffers.len() != offsets.len() {
        return Err(Fault::Count { buffers: buffers.len(), offsets: offsets.len() });
    }
    for (index, (buffer, &offset)) in buffers.iter().zip(offsets).enumerate() {
        if buffer.align == 0 || offset % buffer.align != 0 {
            return Err(Fault::Misaligned { buffer: index });
        }
        if offset.checked_add(buffer.size).is_none() {
            return Err(Fault::PastEnd { buffer: index });
        }
    }
    for a in 0..buffers.len() {
        for b in 0..a {
            if let Some((step, byte)) = clash(&buffers[a], offsets[a], &buffers[b], offsets[b]) {
                return Err(Fault::Overlap { a: b, b: a, step, byte });
            }
        }
    }
    Ok(())
}

/// The first step and byte that the two buffers share.
fn clash(a: &Buffer, a_offset: usize, b: &Buffer, b_offset: usize) -> Option<(usize, usize)> {
    let whole_a = [whole(a)];
    let whole_b = [whole(b)];
    let a_parts = if a.parts.is_empty() { &whole_a[..] } else { &a.parts[..] };
    let b_parts = if b.parts.is_empty() { &whole_b[..] } else { &b.parts[..] };
    for p in a_parts {
        for q in b_parts {
            let first_step = p.lower.max(q.lower);
            let first_byte = a_offset.saturating_add(p.start).max(b_offset.saturating_add(q.start));
            let last_byte = a_offset.saturating_add(p.end).min(b_offset.saturating_add(q.end));
            if first_step < p.upper.min(q.upper) && first_byte < last_byte {
                return Some((first_step, first_byte));
            }
        }
    }
    None
}

/// The part that stands for a buffer without parts.
fn whole(buffer: &Buffer) -> Part {
    Part { lower: buffer.lower, upper: buffer.upper, start: 0, end: buffer.size }
}
