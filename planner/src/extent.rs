//! Extents: numbers that remember the name they were declared with and how they follow from an open dim. Knows nothing of
//! shapes and operators.

use core::fmt;

/// How an extent follows from the value `v` of an open dim: `(times * v + plus) / over`, rounded down.
///
/// It is kept in lowest terms, so that equal formulas are equal in every part. It never shrinks where the dim grows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Formula {
    /// Which of the open dims, counted from 0.
    pub dim: usize,
    /// The largest value of the dim; the least is 1.
    pub bound: usize,
    /// What the value is multiplied by; above 0.
    pub times: usize,
    /// What is added to that.
    pub plus: isize,
    /// What the sum is divided by; above 0.
    pub over: usize,
}

impl Formula {
    /// The extent for that value, 0 where the formula falls below it, or `None` when it does not fit.
    pub const fn at(&self, value: usize) -> Option<usize> {
        let Some(product) = self.times.checked_mul(value) else { return None };
        let sum = if self.plus < 0 {
            product.saturating_sub(self.plus.unsigned_abs())
        } else {
            match product.checked_add(self.plus as usize) {
                Some(sum) => sum,
                None => return None,
            }
        };
        Some(sum / self.over)
    }

    /// True when the formula is not below zero for any value of the dim.
    const fn holds(&self) -> bool {
        self.plus >= 0 || self.times >= self.plus.unsigned_abs()
    }
}

/// One extent. It remembers which declared name it came from, so that messages can speak the user's language, and how it
/// follows from an open dim; two extents are equal when their sizes and formulas are.
///
/// Arithmetic on extents gives `None` where there is no extent that is right for every value of the dim.
#[derive(Clone, Copy, Debug, Default)]
pub struct Dim {
    /// Number of elements along this dimension; where the extent is open, the most there can be.
    pub size: usize,
    /// The declared name it came from; zero when it has none.
    pub name: u16,
    /// How it follows from an open dim; none for one that is fixed.
    pub formula: Option<Formula>,
}

impl Dim {
    /// A fixed extent without a name.
    pub const fn new(size: usize) -> Dim {
        Dim { size, name: 0, formula: None }
    }

    /// The value of open dim number `dim`, which is at most `bound`.
    pub const fn open(dim: usize, bound: usize) -> Dim {
        Dim { size: bound, name: 0, formula: Some(Formula { dim, bound, times: 1, plus: 0, over: 1 }) }
    }

    /// The same extent under a declared name.
    pub const fn named(self, name: u16) -> Dim {
        Dim { name, ..self }
    }

    /// The number of elements, when it is known before the program runs.
    pub const fn fixed(&self) -> Option<usize> {
        if self.is_open() { None } else { Some(self.size) }
    }

    /// True when it follows from an open dim.
    pub const fn is_open(&self) -> bool {
        self.formula.is_some()
    }

    /// True when it is 1 whatever the open dims are: only then may it stretch.
    pub const fn is_one(&self) -> bool {
        self.size == 1 && !self.is_open()
    }

    /// The number of elements for these values of the open dims. A dim without a value counts as its bound.
    pub fn at(&self, values: &[usize]) -> usize {
        match &self.formula {
            Some(formula) => match values.get(formula.dim) {
                Some(value) => formula.at(*value).unwrap_or(self.size),
                None => self.size,
            },
            None => self.size,
        }
    }

    /// The value of its open dim that gives so many elements, when there is exactly one.
    pub fn solve(&self, elements: usize) -> Option<usize> {
        let formula = self.formula.filter(|formula| formula.over == 1)?;
        let product = isize::try_from(elements).ok()?.checked_sub(formula.plus)?;
        let product = usize::try_from(product).ok()?;
        product.is_multiple_of(formula.times).then_some(product / formula.times)
    }

    /// So many more.
    pub fn plus(self, more: usize) -> Option<Dim> {
        if more == 0 {
            return Some(self);
        }
        let size = self.size.checked_add(more)?;
        let Some(formula) = self.formula else { return Some(Dim::new(size)) };
        let more = isize::try_from(more.checked_mul(formula.over)?).ok()?;
        Dim { size, name: 0, formula: Some(Formula { plus: formula.plus.checked_add(more)?, ..formula }) }.settled()
    }

    /// So many fewer, when there are as many for every value.
    pub fn minus(self, less: usize) -> Option<Dim> {
        if less == 0 {
            return Some(self);
        }
        let size = self.size.checked_sub(less)?;
        let Some(formula) = self.formula else { return Some(Dim::new(size)) };
        let less = isize::try_from(less.checked_mul(formula.over)?).ok()?;
        Dim { size, name: 0, formula: Some(Formula { plus: formula.plus.checked_sub(less)?, ..formula }) }.settled()
    }

    /// So many times as many.
    pub fn times(self, count: usize) -> Option<Dim> {
        let size = self.size.checked_mul(count)?;
        match self.formula {
            _ if count == 1 => Some(self),
            None => Some(Dim::new(size)),
            Some(_) if count == 0 => Some(Dim::new(0)),
            Some(formula) if formula.over == 1 => {
                let plus = formula.plus.checked_mul(isize::try_from(count).ok()?)?;
                let times = formula.times.checked_mul(count)?;
                Dim { size, name: 0, formula: Some(Formula { times, plus, ..formula }) }.settled()
            }
            // Rounding down and then multiplying is no rounding down.
            Some(_) => None,
        }
    }

    /// One of so many equal parts, rounded down. Above 0.
    pub fn over(self, parts: usize) -> Option<Dim> {
        if parts == 1 {
            return Some(self);
        }
        let size = self.size.checked_div(parts)?;
        let Some(formula) = self.formula else { return Some(Dim::new(size)) };
        Dim { size, name: 0, formula: Some(Formula { over: formula.over.checked_mul(parts)?, ..formula }) }.settled()
    }

    /// One of so many equal parts, when nothing is left over for any value. Above 0.
    pub fn over_exactly(self, parts: usize) -> Option<Dim> {
        let Some(formula) = self.formula else {
            return (parts > 0 && self.size.is_multiple_of(parts)).then(|| Dim::new(self.size / parts));
        };
        let exact = formula.over == 1
            && parts > 0
            && formula.times.is_multiple_of(parts)
            && formula.plus.unsigned_abs().is_multiple_of(parts);
        exact.then(|| self.over(parts)).flatten()
    }

    /// What can be taken out of an open extent as a number, and the rest.
    pub(crate) fn factor(self) -> (usize, Dim) {
        let Some(formula) = self.formula.filter(|formula| formula.over == 1) else { return (1, self) };
        let common = gcd(formula.times, formula.plus.unsigned_abs());
        match self.over_exactly(common) {
            Some(rest) => (common, rest),
            None => (1, self),
        }
    }

    /// Both together, when they follow from the same dim or one is fixed.
    pub fn joined(self, other: Dim) -> Option<Dim> {
        let (left, right) = match (self.formula, other.formula) {
            (_, None) => return self.plus(other.size),
            (None, _) => return other.plus(self.size),
            (Some(left), Some(right)) if left.over == 1 => (right, left),
            (Some(left), Some(right)) => (left, right),
        };
        if left.dim != right.dim || right.over != 1 {
            return None;
        }
        // (a v + b) / c + (d v + e) = ((a + c d) v + b + c e) / c
        let times = left.times.checked_add(left.over.checked_mul(right.times)?)?;
        let plus = left.plus.checked_add(isize::try_from(left.over).ok()?.checked_mul(right.plus)?)?;
        let size = self.size.checked_add(other.size)?;
        Dim { size, name: 0, formula: Some(Formula { times, plus, ..left }) }.settled()
    }

    /// What is left of this after the other, when that is not below zero and does not shrink where a dim grows.
    pub fn without(self, other: Dim) -> Option<Dim> {
        let Some(right) = other.formula else { return self.minus(other.size) };
        let left = self.formula.filter(|left| left.dim == right.dim)?;
        let size = self.size.checked_sub(other.size)?;
        if (left.times, left.over) == (right.times, right.over) {
            let rest = left.plus.checked_sub(right.plus)?;
            let over = isize::try_from(left.over).ok()?;
            return (rest >= 0 && rest % over == 0).then(|| Dim::new((rest / over) as usize));
        }
        if right.over != 1 {
            return None;
        }
        let times = left.times.checked_sub(left.over.checked_mul(right.times)?)?;
        let plus = left.plus.checked_sub(isize::try_from(left.over).ok()?.checked_mul(right.plus)?)?;
        if times == 0 {
            let rest = usize::try_from(plus.div_euclid(isize::try_from(left.over).ok()?)).ok()?;
            return Some(Dim::new(rest));
        }
        Dim { size, name: 0, formula: Some(Formula { times, plus, ..left }) }.settled()
    }

    /// True when this is at most the other for every value of the open dims.
    pub fn at_most(self, other: Dim) -> bool {
        match (self.formula, other.formula) {
            (None, None) => self.size <= other.size,
            // Extents grow with their dims, so that the ends tell.
            (Some(_), None) => self.size <= other.size,
            (None, Some(formula)) => formula.holds() && Some(self.size) <= formula.at(1),
            (Some(left), Some(right)) if left.dim == right.dim => {
                other.without(self).is_some()
                    || (left.over == 1 && right.over == 1 && right.holds())
                        && left.at(1) <= right.at(1)
                        && self.size <= other.size
            }
            (Some(_), Some(right)) => right.holds() && Some(self.size) <= right.at(1),
        }
    }

    /// In lowest terms: `(g a v + b) / (g c)` is `(a v + b / g) / c`, both rounded down. None below zero.
    fn settled(mut self) -> Option<Dim> {
        if let Some(formula) = &mut self.formula {
            let common = gcd(formula.times, formula.over);
            if common > 1 {
                formula.times /= common;
                formula.over /= common;
                formula.plus = formula.plus.div_euclid(isize::try_from(common).ok()?);
            }
            if !formula.holds() {
                return None;
            }
        }
        Some(self)
    }
}

/// An extent as one writes it: `512`, `SEQ`, `2 * SEQ + 1`, `(SEQ + 1) / 2`. [`Dim::spelled`] makes it.
#[derive(Clone, Copy, Debug)]
pub struct Spelled<'a> {
    dim: Dim,
    name: &'a str,
}

impl Dim {
    /// The extent in terms of its open dim, whose name is given.
    pub const fn spelled(self, name: &str) -> Spelled<'_> {
        Spelled { dim: self, name }
    }
}

impl fmt::Display for Spelled<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some(Formula { times, plus, over, .. }) = self.dim.formula else { return write!(f, "{}", self.dim.size) };
        let within = over > 1 && plus != 0;
        if within {
            f.write_str("(")?;
        }
        if times > 1 {
            write!(f, "{times} * ")?;
        }
        f.write_str(self.name)?;
        match plus {
            0 => {}
            plus if plus < 0 => write!(f, " - {}", plus.unsigned_abs())?,
            plus => write!(f, " + {plus}")?,
        }
        if within {
            f.write_str(")")?;
        }
        if over > 1 { write!(f, " / {over}") } else { Ok(()) }
    }
}

const fn gcd(mut a: usize, mut b: usize) -> usize {
    while b > 0 {
        (a, b) = (b, a % b);
    }
    a
}

impl From<usize> for Dim {
    fn from(size: usize) -> Dim {
        Dim::new(size)
    }
}

impl PartialEq for Dim {
    fn eq(&self, other: &Dim) -> bool {
        self.size == other.size && self.formula == other.formula
    }
}

impl Eq for Dim {}

#[cfg(test)]
mod tests {
    use super::{Dim, Formula};

    const BOUND: usize = 40;

    fn dims() -> impl Iterator<Item = Dim> {
        let seq = Dim::open(0, BOUND);
        let some = [Some(seq), seq.plus(3), seq.times(2), seq.times(3).and_then(|dim| dim.minus(1)), seq.minus(1)];
        let halves = [seq.over(2), seq.plus(1).and_then(|dim| dim.over(2)), seq.plus(5).and_then(|dim| dim.over(3))];
        let all = some.into_iter().chain(halves).flatten().chain([0, 1, 2, 7, 40].map(Dim::new));
        all.collect::<alloc::vec::Vec<Dim>>().into_iter()
    }

    /// Whatever arithmetic gives is right for every value, its size is its value at the bound, and equal numbers have
    /// equal formulas.
    #[test]
    fn arithmetic_is_exact() {
        let check = |dim: Option<Dim>, expected: &dyn Fn(usize) -> Option<usize>| {
            let Some(dim) = dim else { return 0 };
            for value in 1..=BOUND {
                assert_eq!(Some(dim.at(&[value])), expected(value), "{dim:?} at {value}");
            }
            assert_eq!(dim.size, dim.at(&[BOUND]), "{dim:?}");
            1
        };
        let mut some = 0;
        for dim in dims() {
            for count in [0, 1, 2, 3, 5] {
                some += check(dim.plus(count), &|value| Some(dim.at(&[value]) + count));
                some += check(dim.minus(count), &|value| dim.at(&[value]).checked_sub(count));
                some += check(dim.times(count), &|value| Some(dim.at(&[value]) * count));
                some += check(dim.over(count), &|value| dim.at(&[value]).checked_div(count));
                some += check(dim.over_exactly(count), &|value| {
                    let whole = dim.at(&[value]);
                    (count > 0 && whole.is_multiple_of(count)).then(|| whole / count)
                });
            }
            for other in dims() {
                some += check(dim.joined(other), &|value| Some(dim.at(&[value]) + other.at(&[value])));
                some += check(dim.without(other), &|value| dim.at(&[value]).checked_sub(other.at(&[value])));
                if dim.at_most(other) {
                    assert!((1..=BOUND).all(|value| dim.at(&[value]) <= other.at(&[value])), "{dim:?} {other:?}");
                }
                let same = (1..=BOUND).all(|value| dim.at(&[value]) == other.at(&[value]));
                assert_eq!(dim == other, same, "{dim:?} {other:?}");
            }
        }
        assert!(some > 250, "{some} of the sums have a formula");
    }

    #[test]
    fn formulas_are_found_where_they_are_expected() {
        let seq = Dim::open(0, 512);
        let half = |dim: Dim| dim.over(2);
        assert_eq!(half(seq).and_then(half), seq.over(4));
        assert_eq!(seq.times(6).and_then(|dim| dim.over(4)), seq.times(3).and_then(|dim| dim.over(2)));
        assert_eq!(seq.plus(4).and_then(|dim| dim.without(seq)), Some(Dim::new(4)));
        assert_eq!(half(seq).and_then(|dim| dim.times(2)), None);
        assert_eq!(seq.minus(1).map(|dim| dim.at(&[1])), Some(0));
        assert_eq!(seq.minus(2), None, "below zero where the dim is 1");
        assert_eq!(seq.joined(Dim::open(1, 512)), None, "two dims have no sum");
        assert_eq!(Dim::new(512).without(seq), None, "it would shrink");
        assert!(seq.at_most(Dim::new(512)) && !seq.at_most(Dim::new(511)));
        assert_ne!(seq, Dim::new(512));
        assert_eq!(seq.times(2).and_then(|dim| dim.solve(6)), Some(3));
        assert_eq!(seq.times(2).and_then(|dim| dim.solve(5)), None);
    }

    #[test]
    fn extents_are_spelled_as_one_writes_them() {
        let seq = Dim::open(0, 512);
        let text = |dim: Option<Dim>| alloc::format!("{}", dim.expect("it has a formula").spelled("SEQ"));
        assert_eq!(text(Some(Dim::new(7))), "7");
        assert_eq!(text(Some(seq)), "SEQ");
        assert_eq!(text(seq.times(2).and_then(|dim| dim.plus(1))), "2 * SEQ + 1");
        assert_eq!(text(seq.minus(1)), "SEQ - 1");
        assert_eq!(text(seq.times(3).and_then(|dim| dim.over(2))), "3 * SEQ / 2");
        assert_eq!(text(seq.plus(1).and_then(|dim| dim.over(2))), "(SEQ + 1) / 2");
    }

    #[test]
    fn nothing_wraps() {
        let formula = Formula { dim: 0, bound: 1, times: usize::MAX, plus: 0, over: 1 };
        let huge = Dim { size: usize::MAX, name: 0, formula: Some(formula) };
        assert_eq!([huge.plus(1), huge.times(2), huge.joined(huge)], [None; 3]);
        assert_eq!(Dim::new(usize::MAX).plus(1), None);
        assert_eq!(huge.at(&[2]), usize::MAX);
    }
}
