//! Sizes, moments, shapes and names in words. Nothing here allocates, and nothing overflows: a picture of a plan that is
//! wrong is worth as much as one of a plan that is right.

use core::fmt::{self, Display, Write};

use crate::{Plan, PlanTensor, Role, Storage, View};

/// Bytes that the elements of a view hold, gaps between them not counted.
pub(super) fn bytes(view: &View) -> usize {
    if view.dims().contains(&0) {
        return 0;
    }
    if view.dtype.is_quantised() {
        return view.span().len();
    }
    view.dims().iter().fold(view.dtype.size(), |product, &extent| product.saturating_mul(extent))
}

/// Bytes from the start of a view's first element to the end of its last one.
#[cfg(feature = "alloc")]
pub(super) fn span(view: &View) -> usize {
    if view.dims().contains(&0) {
        return 0;
    }
    if view.dtype.is_quantised() {
        return view.span().len();
    }
    let axes = view.dims().iter().zip(view.strides());
    let last = axes.fold(0usize, |sum, (&extent, &stride)| sum.saturating_add((extent - 1).saturating_mul(stride)));
    last.saturating_add(1).saturating_mul(view.dtype.size())
}

/// How a view lies that leaves gaps: so many bytes of every so many. Nothing for one without gaps.
///
/// A part that is joined along an inner axis and a slice of one are such views. Where there are gaps within gaps, it is
/// the innermost that counts.
pub(super) fn stripes(view: &View) -> Option<(usize, usize)> {
    if view.dims().contains(&0) || view.dtype.is_quantised() {
        return None;
    }
    let mut run = 1usize;
    loop {
        let wider = |&(&extent, &stride): &(&usize, &usize)| extent > 1 && stride >= run;
        let (&extent, &stride) = view.dims().iter().zip(view.strides()).filter(wider).min_by_key(|axis| axis.1)?;
        if stride > run {
            let size = view.dtype.size();
            return Some((run.saturating_mul(size), stride.saturating_mul(size)));
        }
        run = run.saturating_mul(extent);
    }
}

/// The index of the tensor whose storage this one lies in: itself, unless it is a view, a successor or a part.
pub(super) fn root(plan: &Plan<'_>, tensor: usize) -> usize {
    let mut at = tensor;
    for _ in plan.tensors {
        match plan.tensors.get(at).map(|tensor| tensor.storage) {
            Some(Storage::View(parent) | Storage::InPlace(parent) | Storage::Part(parent))
                if parent < plan.tensors.len() =>
            {
                at = parent;
            }
            _ => return at,
        }
    }
    at
}

/// How many columns a value takes when it is written.
pub(super) fn width(value: impl Display) -> usize {
    struct Count(usize);
    impl Write for Count {
        fn write_str(&mut self, text: &str) -> fmt::Result {
            self.0 += text.chars().count();
            Ok(())
        }
    }
    let mut count = Count(0);
    // Counting cannot fail, and a value that refuses to be written has no width.
    let _ = write!(count, "{value}");
    count.0
}

/// A value with spaces after it, up to a width.
pub(super) struct Left<T>(pub(super) T, pub(super) usize);

impl<T: Display> Display for Left<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{:2$}", self.0, "", self.1.saturating_sub(width(&self.0)))
    }
}

/// A value with spaces before it, up to a width.
pub(super) struct Right<T>(pub(super) T, pub(super) usize);

impl<T: Display> Display for Right<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:2$}{}", "", self.0, self.1.saturating_sub(width(&self.0)))
    }
}

/// A number with a comma after every third digit.
#[derive(Clone, Copy)]
pub(super) struct Grouped(pub(super) u128);

impl Grouped {
    pub(super) fn of(number: usize) -> Grouped {
        Grouped(number as u128)
    }
}

impl Display for Grouped {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0 < 1000 {
            return write!(f, "{}", self.0);
        }
        write!(f, "{},{:03}", Grouped(self.0 / 1000), self.0 % 1000)
    }
}

const UNITS: [&str; 7] = ["bytes", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];

/// A size in the unit that keeps it short: exact when it is a whole number of that unit, else to a tenth.
#[derive(Clone, Copy)]
pub(super) struct Size(pub(super) u128);

impl Size {
    pub(super) fn of(bytes: usize) -> Size {
        Size(bytes as u128)
    }
}

impl Display for Size {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0 < 1024 {
            return write!(f, "{} byte{}", self.0, if self.0 == 1 { "" } else { "s" });
        }
        let mut unit = 1;
        while unit + 1 < UNITS.len() && (self.0 * 10 + (1 << (10 * unit - 1))) >> (10 * unit) >= 10240 {
            unit += 1;
        }
        let scale = 1u128 << (10 * unit);
        if self.0.is_multiple_of(scale) {
            return write!(f, "{} {}", self.0 / scale, UNITS[unit]);
        }
        let tenths = (self.0 * 10 + scale / 2) / scale;
        write!(f, "{}.{} {}", tenths / 10, tenths % 10, UNITS[unit])
    }
}

/// A size on an axis: exact, in the largest unit in which it is a whole number of quarters.
#[cfg(feature = "alloc")]
pub(super) struct Tick(pub(super) usize);

#[cfg(feature = "alloc")]
impl Display for Tick {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let quarters = self.0 as u128 * 4;
        for (unit, name) in UNITS.iter().enumerate().skip(1).rev() {
            let scale = 1u128 << (10 * unit);
            if quarters >= 4 * scale && quarters.is_multiple_of(scale) {
                let quarters = quarters / scale;
                return write!(f, "{}{} {name}", quarters / 4, ["", ".25", ".5", ".75"][(quarters % 4) as usize]);
            }
        }
        if self.0 == 0 { f.write_str("0") } else { write!(f, "{} B", self.0) }
    }
}

/// A share of a whole, in per cent to a tenth.
pub(super) struct Share(pub(super) u128, pub(super) u128);

impl Display for Share {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Share(part, whole) = *self;
        if whole == 0 {
            return f.write_str("-");
        }
        let thousandths = (part * 1000 + whole / 2) / whole;
        if thousandths == 0 && part > 0 {
            return f.write_str("<0.1 %");
        }
        write!(f, "{}.{} %", thousandths / 10, thousandths % 10)
    }
}

/// A name in at most so many columns: its middle goes first, since both ends tell more.
pub(super) struct Name<'a>(pub(super) &'a str, pub(super) usize);

impl Display for Name<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Name(name, limit) = *self;
        let count = name.chars().count();
        let printable = |c: char| if c.is_control() { char::REPLACEMENT_CHARACTER } else { c };
        if count <= limit {
            return name.chars().try_for_each(|c| f.write_char(printable(c)));
        }
        let head = limit.saturating_sub(1) * 2 / 5;
        let tail = limit.saturating_sub(1) - head;
        name.chars().take(head).try_for_each(|c| f.write_char(printable(c)))?;
        f.write_char('…')?;
        name.chars().skip(count - tail).try_for_each(|c| f.write_char(printable(c)))
    }
}

/// The name of the tensor with that index.
pub(super) fn name<'a>(plan: &Plan<'a>, tensor: usize, limit: usize) -> Name<'a> {
    Name(plan.tensors.get(tensor).map_or("?", |tensor| tensor.name), limit)
}

/// The extents of a tensor: `100x784`, and open ones as they follow from their dim, `{SEQ}x{2 * SEQ + 1}`.
pub(super) struct Extents<'a, 'p>(pub(super) &'a Plan<'p>, pub(super) usize);

impl Display for Extents<'_, '_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Extents(plan, tensor) = *self;
        let view = &plan.tensors[tensor].view;
        if view.rank == 0 {
            return f.write_str("scalar");
        }
        let open = plan.open.tensors.binary_search_by_key(&tensor, |(tensor, _)| *tensor);
        let open = open.map_or(&[][..], |at| plan.open.tensors[at].1);
        for (axis, extent) in view.dims().iter().enumerate() {
            write!(f, "{}", if axis > 0 { "x" } else { "" })?;
            let dim = open.get(axis).and_then(|dim| Some((dim, plan.open.dims.get(dim.formula?.dim)?)));
            match dim {
                Some((dim, (name, _))) => write!(f, "{{{}}}", dim.spelled(name))?,
                None => write!(f, "{extent}")?,
            }
        }
        Ok(())
    }
}

/// A moment: `load`, the number of a step, or `end`.
pub(super) struct Moment<'a, 'p>(pub(super) &'a Plan<'p>, pub(super) usize);

#[cfg(feature = "alloc")]
impl<'p> Moment<'_, 'p> {
    /// The step that runs at this moment, if one does.
    pub(super) fn step(&self) -> Option<(usize, &crate::PlanStep<'p>)> {
        let number = self.1.checked_sub(1)?;
        Some((number, self.0.steps.get(number)?))
    }
}

impl Display for Moment<'_, '_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.1.checked_sub(1) {
            None => f.write_str("load"),
            Some(step) if step < self.0.steps.len() => write!(f, "{step}"),
            Some(_) => f.write_str("end"),
        }
    }
}

/// A lifetime: `load..2`, `3..5`, `7`, `always`.
pub(super) struct Life<'a, 'p>(pub(super) &'a Plan<'p>, pub(super) &'a PlanTensor<'p>);

impl Display for Life<'_, '_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Life(plan, tensor) = *self;
        let whole = tensor.first == 0 && tensor.last >= plan.end();
        if tensor.role.is_persistent() && (tensor.role != Role::State || whole) {
            f.write_str("always")
        } else if tensor.first == tensor.last {
            write!(f, "{}", Moment(plan, tensor.first))
        } else {
            write!(f, "{}..{}", Moment(plan, tensor.first), Moment(plan, tensor.last))
        }
    }
}

/// Whose bytes a tensor has: `own`, `view of x`, `in place of x`, `part of x, 16 of every 64 bytes`.
pub(super) struct Whose<'a, 'p>(pub(super) &'a Plan<'p>, pub(super) &'a PlanTensor<'p>, pub(super) usize);

impl Display for Whose<'_, '_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Whose(plan, tensor, limit) = *self;
        let (how, whose) = match tensor.storage {
            Storage::Own => return f.write_str("own"),
            Storage::View(whose) => ("view of", whose),
            Storage::InPlace(whose) => ("in place of", whose),
            Storage::Part(whose) => ("part of", whose),
        };
        write!(f, "{how} {}", name(plan, whose, limit))?;
        match stripes(&tensor.view) {
            Some((run, row)) => write!(f, ", {} of every {} bytes", Grouped::of(run), Grouped::of(row)),
            None => Ok(()),
        }
    }
}

/// What is said of shared weights where a picture shows the model's own buffer: nothing when there are none.
#[cfg(feature = "alloc")]
pub(super) struct Apart<'a, 'p>(pub(super) &'a Plan<'p>);

#[cfg(feature = "alloc")]
impl Display for Apart<'_, '_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0.shared {
            0 => Ok(()),
            shared => write!(f, "; not drawn: {} of weights in a buffer of their own", Size::of(shared)),
        }
    }
}

/// How near a plan is to its lower bound.
pub(super) struct Verdict<'a, 'p>(pub(super) &'a Plan<'p>);

impl Display for Verdict<'_, '_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let gap = self.0.size.saturating_sub(self.0.lower_bound);
        if gap == 0 {
            return f.write_str("reached: optimal");
        }
        let above = Share(gap as u128, self.0.lower_bound as u128);
        write!(f, "missed by {above}: {}", if self.0.optimal { "proved optimal" } else { "not proved" })
    }
}
