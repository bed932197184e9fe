//! Padding. It has no kernel: the border is filled, and the operand is produced inside it, or copied there.

use super::rule::{Kind, bad};
use super::window::named;
use super::{Action, Args, Described, Expected, Field, Operator, RuleError, Setting, Spec, Value, operator};
use crate::{DType, Dim, MAX_RANK, Type};

operator! {
    /// The operand inside a border.
    Pad = "pad" {
        /// How many elements of the border come before the operand's, along each dimension.
        before: [usize; MAX_RANK],
        /// How many come after.
        after: [usize; MAX_RANK],
        /// What the border's elements are, if they are one number.
        value: f32,
        /// What the border is: 0 one number, 1 the operand's elements reflected at its edge, which is not repeated, 2 the
        /// elements at its edge.
        mode: usize,
    }
}

impl Described for Pad {
    const SPEC: Spec = Spec {
        name: "pad",
        doc: "the operand inside a border of one number, of itself reflected, or of its edge",
        operands: &["x"],
        optional: 0,
        variadic: false,
        settings: &[
            Setting { name: "before", expects: "a list of one whole number per dimension", default: None },
            Setting {
                name: "after",
                expects: "a list of one whole number per dimension",
                default: Some("as `before`"),
            },
            Setting { name: "value", expects: "a number", default: Some("0") },
            Setting { name: "mode", expects: "`constant`, `reflect` or `edge`", default: Some("constant") },
        ],
    };

    fn build(args: &Args<'_>) -> Result<Pad, RuleError> {
        let before = match counts(args, "before")? {
            Some(before) => before,
            None => {
                return Err(RuleError::Missing { name: "before", expects: "a list of one whole number per dimension" });
            }
        };
        let mode = args.word("mode", &MODES, "`constant`, `reflect` or `edge`")?;
        if mode != 0 && args.get("value").is_some() {
            return Err(bad(
                "value",
                "left out: with `mode = reflect` or `mode = edge` the border is made of the operand",
            ));
        }
        let inexact = "a whole number that an f32 holds as it is, since the operand is of integers; `concat` with a \
                       `#[constant]` takes others";
        let value = args.float_beside("value", 0.0, args.inputs[0].dtype, inexact)?;
        let pad = Pad { before, after: counts(args, "after")?.unwrap_or(before), value, mode };
        // Of an open extent, for each of its values.
        let there = |count: usize, extent: Dim| match mode {
            0 => true,
            1 => count == 0 || count.checked_add(1).is_some_and(|count| Dim::new(count).at_most(extent)),
            _ => count == 0 || Dim::new(1).at_most(extent),
        };
        for (axis, dim) in args.inputs[0].shape.dims().iter().enumerate() {
            for (name, count) in [("before", pad.before[axis]), ("after", pad.after[axis])] {
                if !there(count, *dim) {
                    let name = if args.get(name).is_some() { name } else { "before" };
                    return Err(match mode {
                        1 => {
                            bad(name, "less than the extent in each dimension, since what is reflected has to be there")
                        }
                        _ => bad(name, "0 in a dimension without elements, since it has no edge"),
                    });
                }
            }
        }
        Ok(pad)
    }
}

/// What a border can be, by its number.
const MODES: [&str; 3] = ["constant", "reflect", "edge"];

/// A whole number per dimension of the operand.
fn counts(args: &Args<'_>, name: &'static str) -> Result<Option<[usize; MAX_RANK]>, RuleError> {
    let rank = args.inputs[0].shape.rank();
    let wrong = RuleError::Setting { name, expected: Expected::PerDim(rank) };
    let list = match args.fixed(name)? {
        None => return Ok(None),
        Some(Value::List(list)) if list.len() == rank => list,
        Some(_) => return Err(wrong),
    };
    let mut counts = [0; MAX_RANK];
    for (count, value) in counts.iter_mut().zip(list) {
        let Value::Int(given, _) = *value else { return Err(wrong) };
        *count = usize::try_from(given).map_err(|_| wrong)?;
    }
    Ok(Some(counts))
}

impl Operator for Pad {
    fn settings(&self, inputs: &[Type], visit: &mut dyn FnMut(&'static str, Value<'_>)) {
        let rank = inputs.first().map_or(MAX_RANK, |input| input.shape.rank());
        Field::Usizes(&self.before[..rank]).spell(&mut |before| visit("before", before));
        Field::Usizes(&self.after[..rank]).spell(&mut |after| visit("after", after));
        match self.mode {
            0 => visit("value", Value::Float(f64::from(self.value))),
            mode => visit("mode", Value::Word(MODES[mode.min(2)])),
        }
    }

    fn infer(&self, inputs: &[Type]) -> Result<Type, RuleError> {
        let dtype = Kind::Any.of_all(inputs)?;
        number("value", self.value, dtype)?;
        let mut output = inputs[0];
        for (axis, dim) in output.shape.dims_mut().iter_mut().enumerate() {
            let padded = dim.plus(self.before[axis]).and_then(|dim| dim.plus(self.after[axis]));
            *dim = named(padded.ok_or(RuleError::Overflow)?, *dim);
        }
        Ok(output)
    }

    fn action(&self) -> Action {
        Action::Expand
    }

    /// A concatenation along each padded dimension, the last one innermost: there the border's blocks are smallest.
    #[cfg(feature = "alloc")]
    fn expand(
        &self,
        inputs: &[super::TensorId],
        types: &[Type],
        add: &mut super::AddCall<'_>,
    ) -> Result<super::Last, RuleError> {
        use alloc::rc::Rc;
        use alloc::vec;

        let mut dims = [Dim::new(1); MAX_RANK];
        for (dim, given) in dims.iter_mut().zip(types[0].shape.dims()) {
            *dim = given.named(0);
        }
        let rank = types[0].shape.rank();
        let mut last: super::Last = (Rc::new(super::Identity {}), vec![inputs[0]]);
        let mut inside = None;
        for axis in (0..rank).rev().filter(|axis| self.before[*axis] + self.after[*axis] > 0) {
            if let Some(axis) = inside {
                let whole = add(&alloc::format!("along{axis}"), last.0, &last.1)?;
                last.1 = vec![whole];
            }
            let (mode, within) = (self.mode, last.1[0]);
            let mut block = |side: &str, size: usize| {
                if size == 0 {
                    return Ok(None);
                }
                let name = alloc::format!("{side}{axis}");
                if mode != 0 {
                    let extent = dims[axis];
                    let first = match (mode, side) {
                        (1, "before") => Some(Dim::new(size)),
                        (1, _) => extent.minus(2),
                        (_, "before") => Some(Dim::new(0)),
                        _ => extent.minus(1),
                    };
                    let first = first.ok_or(RuleError::Overflow)?;
                    let border = super::Border { axis, count: size, first, back: mode == 1 };
                    return add(&name, Rc::new(border), &[within]).map(Some);
                }
                let mut dims = dims;
                dims[axis] = Dim::new(size);
                let fill = super::Fill { dims, rank, value: self.value, dtype: types[0].dtype };
                add(&name, Rc::new(fill), &[]).map(Some)
            };
            let (before, after) = (block("before", self.before[axis])?, block("after", self.after[axis])?);
            let parts = before.into_iter().chain(last.1).chain(after).collect();
            last = (Rc::new(super::Concat { axis }), parts);
            let border = self.before[axis].checked_add(self.after[axis]).ok_or(RuleError::Overflow)?;
            dims[axis] = dims[axis].plus(border).ok_or(RuleError::Overflow)?;
            inside = Some(axis);
        }
        Ok(last)
    }
}

/// Fails unless an element type holds that number.
pub(super) fn number(name: &'static str, value: f32, dtype: DType) -> Result<(), RuleError> {
    match dtype.range() {
        _ if dtype == DType::Bool && value != 0.0 && value != 1.0 => {
            Err(bad(name, "0 or 1, since the operand is bool"))
        }
        Some((low, high))
            if value as i128 as f32 != value || !(i128::from(low)..=i128::from(high)).contains(&(value as i128)) =>
        {
            Err(bad(name, "a whole number that the operand's elements can hold"))
        }
        _ => Ok(()),
    }
}
