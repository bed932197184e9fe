//! Which values of the open dims tell for all of them. Part of the checker: it knows extents and nothing of the samples
//! that passes decide by.
//!
//! An extent is `(a v + b) / c`, rounded down. Let `P` be the least common multiple of all such `c`. Among the values
//! `r + P t` of one remainder `r` every extent is a straight line in `t`, and one that is not fixed is at least `t`. So from
//! `t = 2` on no extent is 0 or 1 that is not so always, and offsets and strides, which are sums of products of extents,
//! are polynomials in `t`. Their degree is at most one more than one tensor has extents of the dim: a start times a stride.
//! Polynomials of degree `d` that are equal at `d + 1` places are equal everywhere. Hence the first `2 P` values, each by
//! itself, and the last `(d + 1) P` tell whether two places are the same, for each dim and, in a grid, for several.
//!
//! Convolutions with steps make `P` large: sound at 320 samples a frame. What follows a dim by one such extent alone, with
//! whole numbers added to it, follows that extent `u`: it is a straight line in `u`, and the values of the dim that give one
//! `u` are one. Where `a < c` every `u` between the least and the largest is given, so that `t` counts those, and `P` is 1.

use alloc::vec;
use alloc::vec::Vec;

use crate::op::{Field, Operator};
use crate::pass::{How, Planned};
use crate::{Dim, Formula};

/// How something follows from one open dim.
#[derive(Clone, Copy, Debug)]
pub(super) struct Law {
    /// The least common multiple of what its extents are divided by; the largest number where there is none.
    period: usize,
    /// The degree of the polynomials at most.
    degree: usize,
    /// What each of its extents is, but for a whole number that is added; none where there is no such formula.
    only: Option<Formula>,
}

impl Law {
    /// The values that tell for all up to that bound.
    fn values(&self, bound: usize) -> Vec<usize> {
        let turns = self.turns(bound);
        let (low, high) = (turns.period.saturating_mul(2), turns.period.saturating_mul(self.degree + 1));
        let rest = turns.count.saturating_sub(low);
        let told = (1..=turns.count.min(low)).chain(turns.count - rest.min(high) + 1..=turns.count);
        told.map(|turn| turns.value(turn)).collect()
    }

    /// How many those are.
    fn count(&self, bound: usize) -> usize {
        let turns = self.turns(bound);
        turns.count.min(turns.period.saturating_mul(self.degree + 3))
    }

    fn turns(&self, bound: usize) -> Turns {
        if let Some(formula) = self.only.filter(|formula| formula.times < formula.over)
            && let (Some(first), Some(last)) = (formula.at(1), formula.at(bound))
        {
            return Turns { count: last - first + 1, period: 1, extent: Some((formula, first)) };
        }
        Turns { count: bound, period: self.period, extent: None }
    }
}

/// What is counted through in place of a dim's values: these themselves, or those that a rounded extent has.
struct Turns {
    /// How many there are, from 1 on.
    count: usize,
    /// Among those of one remainder by it, extents are straight lines.
    period: usize,
    /// The extent, and what it is at least.
    extent: Option<(Formula, usize)>,
}

impl Turns {
    /// A value of the dim at that turn: the least.
    fn value(&self, turn: usize) -> usize {
        let Some((formula, first)) = self.extent else { return turn };
        // The least `v` of which `a v + b` is no less than `c u`.
        let least = (first + turn - 1) as i128 * formula.over as i128 - formula.plus as i128;
        let times = formula.times as i128;
        usize::try_from((least + times - 1).div_euclid(times)).unwrap_or(1).max(1)
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
        let turns = self.turns(bound);
        let (period, straight) = (turns.period, self.degree + 1);
        if turns.count.min(period.saturating_mul(straight + 3)) > most {
            return None;
        }
        let mut lines = Vec::new();
        for first in 1..=turns.count.min(period) {
            let last = (turns.count - first) / period;
            let at = |t: usize| turns.value(first + period * t);
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
            let known = law.unwrap_or(Law { period: 1, degree: 0, only: Some(formula) });
            *law = Some(Law {
                period: common(known.period, formula.over),
                degree: known.degree.max(1 + *count),
                only: known.only.filter(|only| is_beside(only, &formula)),
            });
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

/// True when two extents of one dim are the same but for a whole number that is added.
fn is_beside(one: &Formula, other: &Formula) -> bool {
    let apart = one.plus as i128 - other.plus as i128;
    (one.times, one.over) == (other.times, other.over) && apart % one.over as i128 == 0
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

#[cfg(test)]
mod tests {
    use super::*;

    /// Whatever value a dim has, its extents are those at a value of some turn, and each turn is another one.
    #[test]
    fn turns_are_all_that_extents_can_be() {
        let seq = |bound: usize| Dim::open(0, bound);
        let mut alone = 0;
        for bound in [1, 2, 319, 320, 321, 1000] {
            for (times, plus, over) in
                [(1, 0, 320), (1, 319, 320), (3, 1, 7), (2, 0, 3), (1, 0, 1), (7, 2, 3), (5, 9, 11)]
            {
                let dim = seq(bound).times(times).and_then(|dim| dim.plus(plus)?.over(over)).unwrap();
                let mut follows = Follows { laws: vec![None] };
                follows.take(&[dim, dim.plus(4).unwrap()]);
                let turns = follows.laws[0].unwrap().turns(bound);
                alone += usize::from(turns.extent.is_some());
                let values: Vec<usize> = (1..=turns.count).map(|turn| turns.value(turn)).collect();
                assert!(values.iter().all(|value| (1..=bound).contains(value)), "{dim:?}: {values:?}");
                let given: Vec<usize> = values.iter().map(|value| dim.at(&[*value])).collect();
                let mut all: Vec<usize> = (1..=bound).map(|value| dim.at(&[value])).collect();
                if turns.extent.is_some() {
                    all.dedup();
                    assert_eq!(turns.period, 1);
                    assert!(given.windows(2).all(|two| two[0] + 1 == two[1]), "{dim:?}: {given:?}");
                }
                assert_eq!(given, all, "{dim:?}");
            }
        }
        assert_eq!(alone, 5 * 6);
    }

    /// Two extents that are rounded at other values follow from no single one.
    #[test]
    fn extents_that_jump_elsewhere_are_told_apart() {
        let seq = Dim::open(0, 1000);
        for other in
            [seq.over(320), seq.plus(1).and_then(|dim| dim.over(640)), seq.plus(318).and_then(|dim| dim.over(320))]
        {
            let mut follows = Follows { laws: vec![None] };
            follows.take(&[seq.plus(319).and_then(|dim| dim.over(320)).unwrap(), other.unwrap()]);
            assert_eq!(follows.laws[0].unwrap().turns(1000).count, 1000);
        }
    }
}
