//! Sets of sections in a fixed number of bits, to say which decisions can have had a part in a failure.

/// A set of sections, or of runs of neighbouring sections where there are more than it has bits.
pub(super) type Span = [u64; 4];

/// Sections that a span tells apart.
const BITS: usize = 256;

/// The span of the sections `lo..hi` out of `sections`.
pub(super) fn of(lo: u32, hi: u32, sections: usize) -> Span {
    let bit = |section: u32| {
        if sections <= BITS { section as usize } else { section as usize * BITS / sections }
    };
    let mut span = Span::default();
    for at in bit(lo)..=bit(hi - 1) {
        span[at / 64] |= 1 << (at % 64);
    }
    span
}

/// Adds `other` to `span`.
pub(super) fn join(span: &mut Span, other: &Span) {
    span[0] |= other[0];
    span[1] |= other[1];
    span[2] |= other[2];
    span[3] |= other[3];
}

/// Whether the two share a section.
pub(super) fn meet(a: &Span, b: &Span) -> bool {
    (a[0] & b[0]) | (a[1] & b[1]) | (a[2] & b[2]) | (a[3] & b[3]) != 0
}
