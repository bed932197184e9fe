//! Where a tensor lies when the open dims have their largest values and at samples of smaller ones, by all of which the
//! passes decide. What holds at samples need not hold at every value: the checker, which knows nothing of these, says
//! whether it does. Of a graph without open dims there are no samples.

use alloc::rc::Rc;
use alloc::vec::Vec;
use core::ops::Range;

use crate::graph::OpenDim;
use crate::op::Operator;
use crate::{Dim, Type, View};

/// Values of the open dims, the largest ones not among them.
pub(super) type Samples = Vec<Vec<usize>>;

/// All values where they are few. Else the ends, what lies next to them and some in between: each dim alone while the
/// others are largest and while they are 1, and mixed.
pub fn samples(open: &[OpenDim]) -> Vec<Vec<usize>> {
    const FEW: usize = 40;
    const MIXED: usize = 6;
    let bounds: Vec<usize> = open.iter().map(|open| open.bound).collect();
    let mut samples: Vec<Vec<usize>> = Vec::new();
    let count = bounds.iter().try_fold(1usize, |count, bound| count.checked_mul(*bound));
    if let Some(count) = count.filter(|count| *count <= FEW) {
        for mut index in 0..count {
            samples.push(
                bounds
                    .iter()
                    .map(|bound| {
                        let value = index % bound + 1;
                        index /= bound;
                        value
                    })
                    .collect(),
            );
        }
    } else {
        samples.push(alloc::vec![1; bounds.len()]);
        for (dim, bound) in bounds.iter().enumerate() {
            let some = [1, 2, 3, 4, 5, 7, 8, bound / 3, bound / 2, bound - bound / 4, bound.saturating_sub(1), *bound];
            for others in [bounds.clone(), alloc::vec![1; bounds.len()]] {
                for value in some.into_iter().filter(|value| (1..=*bound).contains(value)) {
                    let mut sample = others.clone();
                    sample[dim] = value;
                    samples.push(sample);
                }
            }
        }
        let mut state = 0x9e37_79b9_7f4a_7c15u64;
        let mut draw = |bound: usize| {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            ((state >> 33) as usize) % bound + 1
        };
        samples.extend((0..MIXED).map(|_| bounds.iter().map(|bound| draw(*bound)).collect::<Vec<usize>>()));
    }
    samples.sort();
    samples.dedup();
    samples.retain(|sample| *sample != bounds);
    samples
}

/// A tensor's place, relative to the start of its storage.
#[derive(Clone, Debug)]
pub(super) struct Seen {
    /// Where the open dims have their largest values.
    pub(super) view: View,
    /// At each sample; shared, since many are asked where a tensor lies.
    others: Rc<[View]>,
    /// No extent on the way here is rounded, so that between samples it moves evenly.
    even: bool,
}

/// True when no extent is the rounded quotient of others.
fn even<'a>(dims: impl IntoIterator<Item = &'a Dim>) -> bool {
    dims.into_iter().all(|dim| dim.formula.is_none_or(|formula| formula.over == 1))
}

impl Seen {
    /// Packed from the storage's start on.
    pub(super) fn packed(ty: &Type, samples: &Samples) -> Seen {
        let at = |ty: &Type| View::packed(ty.dtype, 0, &ty.shape);
        let others = samples.iter().map(|values| at(&ty.at(values))).collect();
        Seen { view: at(ty), others, even: even(ty.shape.dims()) }
    }

    /// As an operator looks at it, when it can without a copy.
    pub(super) fn through(&self, op: &dyn Operator, ty: &Type, samples: &Samples) -> Option<Seen> {
        let others = self.others.iter().zip(samples);
        Some(Seen {
            view: op.view(&self.view, ty)?,
            others: others.map(|(view, values)| op.at(values).view(view, &ty.at(values))).collect::<Option<_>>()?,
            even: self.even && even(ty.shape.dims()),
        })
    }

    /// The part of a concatenation that starts at `start` along `axis`.
    pub(super) fn part(&self, axis: usize, start: Dim, size: Dim, samples: &Samples) -> Seen {
        let others = self.others.iter().zip(samples);
        Seen {
            view: part_of(&self.view, axis, start.size, size.size),
            others: others.map(|(view, values)| part_of(view, axis, start.at(values), size.at(values))).collect(),
            even: self.even && even([&start, &size]),
        }
    }

    /// All of them.
    pub(super) fn all(&self) -> impl Iterator<Item = &View> {
        core::iter::once(&self.view).chain(&*self.others)
    }

    /// This and another at the same values.
    pub(super) fn beside<'a>(&'a self, other: &'a Seen) -> impl Iterator<Item = (&'a View, &'a View)> {
        self.all().zip(other.all())
    }

    /// Packed, whatever the open dims are.
    pub(super) fn is_packed(&self) -> bool {
        self.all().all(View::is_packed)
    }

    /// True when it starts at another byte for other values.
    pub(super) fn moves(&self) -> bool {
        self.others.iter().any(|view| view.offset != self.view.offset)
    }

    /// The bytes that it has for some value. Both ends move in one direction as a dim grows, so that the largest values and
    /// the least tell, which are among the samples. What is empty at those starts no later than where it is not.
    pub(super) fn span(&self) -> Range<usize> {
        let span = self.view.span();
        if span.is_empty() {
            return span;
        }
        self.others.iter().map(View::span).fold(span, |hull, span| hull.start.min(span.start)..hull.end.max(span.end))
    }

    /// True when both have the same elements, whatever the open dims are.
    pub(super) fn same_elements(&self, other: &Seen) -> bool {
        let known = self.is_known_beside(other) || !(self.moves() || other.moves());
        known && self.beside(other).all(|(left, right)| left.same_elements(right))
    }

    /// True when the samples are likely to tell where both are for every value: what moves evenly seldom passes anything
    /// between two of them unseen. A rounded extent jumps instead, anywhere.
    fn is_known_beside(&self, other: &Seen) -> bool {
        self.others.is_empty() || (self.even && other.even)
    }

    /// True when one ends before the other starts, the same one for all values.
    pub(super) fn apart(&self, other: &Seen) -> bool {
        if !self.is_known_beside(other) {
            return false;
        }
        let spans = || self.beside(other).map(|(left, right)| (left.span(), right.span()));
        let met = || spans().filter(|(left, right)| !left.is_empty() && !right.is_empty());
        met().all(|(left, right)| left.end <= right.start) || met().all(|(left, right)| right.end <= left.start)
    }

    /// Laid where another starts.
    pub(super) fn laid_at(mut self, other: &Seen) -> Seen {
        self.view.offset += other.view.offset;
        let moved = self.others.iter().zip(&*other.others);
        self.others = moved.map(|(view, other)| View { offset: view.offset + other.offset, ..*view }).collect();
        self.even &= other.even;
        self
    }
}

/// The part of a concatenation that starts at `start` along `axis`.
fn part_of(concat: &View, axis: usize, start: usize, size: usize) -> View {
    let mut view = *concat;
    view.offset += start * concat.strides[axis] * concat.dtype.size();
    view.dims[axis] = size;
    view
}
