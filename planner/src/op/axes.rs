//! Views that add, drop or divide dimensions. None of them is a step.

use super::rule::bad;
use super::{Action, Args, Described, Expected, Operator, RuleError, Setting, Spec, Value, operator};
use crate::{Dim, MAX_RANK, Shape, Type, View};

operator! {
    /// `parts` equal parts along `axis`, side by side along a new first dimension: part `p` of the result holds the
    /// operand's indices from `p * extent / parts` on.
    Split = "split" {
        /// The axis that is divided.
        axis: usize,
        /// Into how many.
        parts: usize,
    }
    /// The operand with one more dimension, of extent 1.
    ExpandDims = "expand_dims" {
        /// Where it stands in the result.
        axis: usize,
    }
    /// The operand without some of its dimensions of extent 1.
    Squeeze = "squeeze" {
        /// Those that are dropped.
        axes: [bool; MAX_RANK],
    }
}

impl Described for Split {
    const SPEC: Spec = Spec {
        name: "split",
        doc: "equal parts along an axis, which become indices of a new first dimension: `split(x, parts = 2)[0]` is the first",
        operands: &["x"],
        optional: 0,
        variadic: false,
        settings: &[
            Setting { name: "axis", expects: "an axis", default: Some("0") },
            Setting { name: "parts", expects: "how many parts", default: None },
        ],
    };

    fn build(args: &Args<'_>) -> Result<Split, RuleError> {
        if args.inputs[0].shape.rank() == 0 {
            return Err(RuleError::Rank { input: 0, expected: "at least 1 dimension" });
        }
        let split = Split { axis: args.axis("axis", 0, Some(0))?, parts: args.size("parts", 1, None)? };
        split.infer(args.inputs)?;
        Ok(split)
    }
}

impl Operator for Split {
    fn infer(&self, inputs: &[Type]) -> Result<Type, RuleError> {
        let dims = inputs[0].shape.dims();
        let extent = dims[self.axis];
        let Some(part) = extent.over_exactly(self.parts) else {
            return Err(RuleError::Setting { name: "parts", expected: divisor(extent) });
        };
        let mut shape = Shape::SCALAR.with(Dim::new(self.parts)).ok_or(RuleError::TooManyDims)?;
        for (axis, dim) in dims.iter().enumerate() {
            let dim = if axis == self.axis && self.parts > 1 { part } else { *dim };
            shape = shape.with(dim).ok_or(RuleError::TooManyDims)?;
        }
        Ok(Type { dtype: inputs[0].dtype, shape })
    }

    fn action(&self) -> Action {
        Action::View
    }

    fn view(&self, input: &View, output: &Type) -> Option<View> {
        let part = output.shape.dims()[self.axis + 1].size;
        let mut view = inserted(input, 0, self.parts, input.strides[self.axis].saturating_mul(part));
        view.dims[self.axis + 1] = part;
        Some(view)
    }
}

/// What has to divide an extent.
pub(super) fn divisor(extent: Dim) -> Expected {
    match extent.fixed() {
        Some(extent) => Expected::Divisor(extent),
        None => Expected::Words(
            "a divisor of the extent, whatever the open dim is; declare the part open and write the \
                                 whole as `{n * PART}`",
        ),
    }
}

/// The view with one more dimension at `axis`.
fn inserted(input: &View, axis: usize, dim: usize, stride: usize) -> View {
    let mut view = *input;
    view.dims.copy_within(axis..MAX_RANK - 1, axis + 1);
    view.strides.copy_within(axis..MAX_RANK - 1, axis + 1);
    (view.dims[axis], view.strides[axis]) = (dim, stride);
    view.rank += 1;
    view
}

impl Described for ExpandDims {
    const SPEC: Spec = Spec {
        name: "expand_dims",
        doc: "the operand with one more dimension, of extent 1, at `axis` of the result",
        operands: &["x"],
        optional: 0,
        variadic: false,
        settings: &[Setting { name: "axis", expects: "an axis of the result", default: Some("0") }],
    };

    fn build(args: &Args<'_>) -> Result<ExpandDims, RuleError> {
        let rank = args.inputs[0].shape.rank() + 1;
        let wrong = RuleError::Setting { name: "axis", expected: Expected::Axis(rank) };
        let given = match args.get("axis") {
            None => 0,
            Some(Value::Int(given, _)) if given < 0 => given.checked_add(rank as i64).ok_or(wrong)?,
            Some(Value::Int(given, _)) => given,
            Some(_) => return Err(wrong),
        };
        Ok(ExpandDims { axis: usize::try_from(given).ok().filter(|axis| *axis < rank).ok_or(wrong)? })
    }
}

impl Operator for ExpandDims {
    fn infer(&self, inputs: &[Type]) -> Result<Type, RuleError> {
        let (before, after) = inputs[0].shape.dims().split_at(self.axis);
        let mut shape = Shape::new(before).and_then(|shape| shape.with(Dim::new(1))).ok_or(RuleError::TooManyDims)?;
        for dim in after {
            shape = shape.with(*dim).ok_or(RuleError::TooManyDims)?;
        }
        Ok(Type { dtype: inputs[0].dtype, shape })
    }

    fn action(&self) -> Action {
        Action::View
    }

    fn view(&self, input: &View, _: &Type) -> Option<View> {
        let stride = input.strides[self.axis].saturating_mul(input.dims[self.axis]);
        Some(inserted(input, self.axis, 1, stride.max(1)))
    }
}

impl Described for Squeeze {
    const SPEC: Spec = Spec {
        name: "squeeze",
        doc: "the operand without dimensions of extent 1",
        operands: &["x"],
        optional: 0,
        variadic: false,
        settings: &[Setting {
            name: "axes",
            expects: "an axis of extent 1 or a list of them",
            default: Some("every one of extent 1"),
        }],
    };

    fn build(args: &Args<'_>) -> Result<Squeeze, RuleError> {
        let mut axes = args.axes("axes")?;
        if args.get("axes").is_none() {
            for (mark, dim) in axes.iter_mut().zip(args.inputs[0].shape.dims()) {
                *mark = dim.is_one();
            }
        }
        Ok(Squeeze { axes })
    }
}

impl Operator for Squeeze {
    fn infer(&self, inputs: &[Type]) -> Result<Type, RuleError> {
        let mut shape = Shape::SCALAR;
        for (axis, dim) in inputs[0].shape.dims().iter().enumerate() {
            match self.axes[axis] {
                true if !dim.is_one() => {
                    return Err(bad("axes", "axes of extent 1; `slice` or `x[0]` picks one index of a larger one"));
                }
                true => {}
                false => shape = shape.with(*dim).ok_or(RuleError::TooManyDims)?,
            }
        }
        Ok(Type { dtype: inputs[0].dtype, shape })
    }

    fn action(&self) -> Action {
        Action::View
    }

    fn view(&self, input: &View, _: &Type) -> Option<View> {
        let mut view = View { rank: 0, dims: [1; MAX_RANK], strides: [0; MAX_RANK], ..*input };
        for axis in (0..input.rank).filter(|axis| !self.axes[*axis]) {
            (view.dims[view.rank], view.strides[view.rank]) = (input.dims[axis], input.strides[axis]);
            view.rank += 1;
        }
        Some(view)
    }
}
