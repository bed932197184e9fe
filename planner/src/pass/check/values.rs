//! Which values of the open dims tell for all of them. Part of the checker: it knows extents and nothing of the samples
//! that passes decide by.
//!
//! An extent is `(a v + b) / c`, rounded down. Let `P` be the least common multiple of all such `c`. Among the values
//! `r + P t` of one remainder `r` every extent is a straight line in `t`, and one that is not fixed is at least `t`. So from
//! `t = 2` on no extent is 0 or 1 that is not so always, and offsets and strides, which are sums of products of extents,
//! are polynomials in `t`. Their degree is at most one more than one tensor has extents of the dim: a start times a stride.
//! Polynomials of degree `d` that are equal at `d + 1` places are equal everywhere. Hence the first `2 P` values, each by
//! itself, and the last `(d + 1) P` tell whether two places are the same, for each dim and, in a grid, for several.

use alloc::vec;
use alloc::vec::Vec;

use crate::Dim;
use crate::op::{Field, Operator};
use crate::pass::{How, Planned};

/// How something follows from one open dim.
#[derive(Clone, Copy, Debug)]
pub(super) struct Law {
    /// The least common multiple of what its extents are divided by; the largest number where there is none.
    period: usize,
    /// The degree of the polynomials at most.
    degree: usize,
}

impl Law {
    /// The values that tell for all up to that bound.
    fn values(&self, bound: usize) -> Vec<usize> {
        let (low, high) = (self.period.saturating_mul(2), self.period.saturating_mul(self.degree + 1));
        let rest = bound.saturating_sub(low);
        (1..=bound.min(low)).chain(bound - rest.min(high) + 1..=bound).collect()
    }

    /// How many those are.
    fn count(&self, bound: usize) -> usize {
        bound.min(self.period.saturating_mul(self.degree + 3))
    }
}

/// Values of one dim: a single one; or some of one remainder, from the third on, of which the first `straight` tell whether
/// a polynomial is a straight line, and the last of all.
#[derive(Clone, Debug)]
pub(super) struct Line {
    pub(super) values: Vec<usize>,
    pub(super) straight: usize,
}

impl Law {
    /// All values up to that bound in lines; none where more than `most` values would have to be looked at.
    pub(super) fn lines(&self, bound: usize, most: usize) -> Option<Vec<Line>> {
        let (period, straight) = (self.period, self.degree + 1);
        if bound.min(period.saturating_mul(straight + 3)) > most {
            return None;
        }
        let mut lines = Vec::new();
        for first in 1..=bound.min(period) {
            let last = (bound - first) / period;
            let at = |t: usize| first + period * t;
            let alone = if last > 2 + straight { 1 } else { last };
            lines.extend((0..=alone.min(last)).map(|t| Line { values: vec![at(t)], straight: 0 }));
            if alone < last {
                lines.push(Line { values: (2..2 + straight).chain([last]).map(at).collect(), straight });
            }
        }
        Some(lines)
    }
}

/// How something follows from each of the open dims; none from one that it does not depend on.
#[derive(Clone, Debug)]
pub(super) struct Follows {
    pub(super) laws: Vec<Option<Law>>,
}

impl Follows {
    /// Where these tensors lie.
    pub(super) fn places(planned: &Planned, tensors: impl IntoIterator<Item = usize>) -> Follows {
        let mut follows = Follows { laws: vec![None; planned.open.len()] };
        for tensor in tensors {
            let tensor = &planned.tensors[tensor];
            follows.take(tensor.ty.shape.dims());
            match &tensor.how {
                How::Look(op) => follows.take_fields(&**op),
                How::Part { start, .. } => follows.take(&[*start]),
                How::Packed | How::Scratch => {}
            }
        }
        follows
    }

    /// All of a plan.
    pub(super) fn plan(planned: &Planned) -> Follows {
        let mut follows = Follows::places(planned, 0..planned.tensors.len());
        planned.steps.iter().for_each(|step| follows.take_fields(&*step.op));
        follows
    }

    fn take_fields(&mut self, op: &dyn Operator) {
        op.fields(&mut |_, field| match field {
            Field::Dim(dim) => self.take(&[dim]),
            Field::Dims(dims) => self.take(dims),
            _ => {}
        });
    }

    fn take(&mut self, dims: &[Dim]) {
        let mut counts = vec![0; self.laws.len()];
        for formula in dims.iter().filter_map(|dim| dim.formula) {
            let (Some(law), Some(count)) = (self.laws.get_mut(formula.dim), counts.get_mut(formula.dim)) else {
                continue;
            };
            *count += 1;
            let known = law.unwrap_or(Law { period: 1, degree: 0 });
            *law = Some(Law { period: common(known.period, formula.over), degree: known.degree.max(1 + *count) });
        }
    }

    /// The values that tell for all, those of dims that nothing follows from at their bounds; none where they are more
    /// than `most`.
    pub(super) fn values(&self, bounds: &[usize], most: usize) -> Option<Vec<Vec<usize>>> {
        let count = |(law, bound): (&Option<Law>, &usize)| law.as_ref().map_or(1, |law| law.count(*bound));
        let count = self.laws.iter().zip(bounds).map(count).fold(1usize, usize::saturating_mul);
        if count > most {
            return None;
        }
        let mut all = vec![bounds.to_vec()];
        for (dim, law) in self.laws.iter().enumerate() {
            let Some(law) = law else { continue };
            let values = law.values(bounds[dim]);
            all = all.iter().flat_map(|known| values.iter().map(|value| with(known, dim, *value))).collect();
        }
        Some(all)
    }

    /// So many values as `most` allows: each dim alone, from both ends, while the others are least and largest.
    pub(super) fn some_values(&self, bounds: &[usize], most: usize) -> Vec<Vec<usize>> {
        let each = (most / (2 * bounds.len().max(1))).max(8);
        let mut some = Vec::new();
        for others in [vec![1; bounds.len()], bounds.to_vec()] {
            for (dim, law) in self.laws.iter().enumerate() {
                let Some(law) = law else { continue };
                let bound = bounds[dim];
                let ends = (1..=bound.min(each / 2)).chain((bound - bound.min(each / 2) + 1..=bound).rev());
                match law.count(bound) <= each {
                    true => some.extend(law.values(bound).into_iter().map(|value| with(&others, dim, value))),
                    false => some.extend(ends.map(|value| with(&others, dim, value))),
                }
            }
        }
        some.sort();
        some.dedup();
        some
    }
}

/// Those values with another one for a dim.
pub(super) fn with(values: &[usize], dim: usize, value: usize) -> Vec<usize> {
    let mut values = values.to_vec();
    values[dim] = value;
    values
}

/// The least common multiple.
fn common(left: usize, right: usize) -> usize {
    let (mut a, mut b) = (left, right);
    while b > 0 {
        (a, b) = (b, a % b);
    }
    (left / a.max(1)).saturating_mul(right)
}
