//! Sums, products, means and extrema over axes. Sums and products of integers wrap.

use super::rule::Kind;
use super::{Args, Described, Operator, RuleError, Setting, Spec, operator};
use crate::{Dim, MAX_RANK, Shape, Type};

operator! {
    /// Sum over the marked axes; 0 over no elements.
    Sum = "sum" {
        /// The axes that are summed over.
        axes: [bool; MAX_RANK],
        /// Keep them with extent 1 instead of dropping them.
        keep_dims: bool,
    }
    /// Mean over the marked axes; NaN over no elements.
    Mean = "mean" {
        /// The axes that are averaged over.
        axes: [bool; MAX_RANK],
        /// Keep them with extent 1 instead of dropping them.
        keep_dims: bool,
    }
    /// Largest element over the marked axes, NaN if there is one among them.
    Max = "max" {
        /// The axes that are searched.
        axes: [bool; MAX_RANK],
        /// Keep them with extent 1 instead of dropping them.
        keep_dims: bool,
    }
    /// Smallest element over the marked axes, NaN if there is one among them.
    Min = "min" {
        /// The axes that are folded.
        axes: [bool; MAX_RANK],
        /// Keep them with extent 1 instead of dropping them.
        keep_dims: bool,
    }
    /// Product over the marked axes; 1 over no elements.
    Prod = "prod" {
        /// The axes that are folded.
        axes: [bool; MAX_RANK],
        /// Keep them with extent 1 instead of dropping them.
        keep_dims: bool,
    }
    /// Sum of squares over the marked axes.
    SumSquare = "sum_square" {
        /// The axes that are folded.
        axes: [bool; MAX_RANK],
        /// Keep them with extent 1 instead of dropping them.
        keep_dims: bool,
    }
    /// Sum of absolute values over the marked axes.
    L1 = "l1" {
        /// The axes that are folded.
        axes: [bool; MAX_RANK],
        /// Keep them with extent 1 instead of dropping them.
        keep_dims: bool,
    }
    /// Square root of the sum of squares over the marked axes.
    L2 = "l2" {
        /// The axes that are folded.
        axes: [bool; MAX_RANK],
        /// Keep them with extent 1 instead of dropping them.
        keep_dims: bool,
    }
    /// Natural logarithm of the sum over the marked axes.
    LogSum = "log_sum" {
        /// The axes that are folded.
        axes: [bool; MAX_RANK],
        /// Keep them with extent 1 instead of dropping them.
        keep_dims: bool,
    }
    /// `ln Σ exp(x)` over the marked axes, with the largest element taken out first, so that nothing overflows; -∞ over no
    /// elements.
    LogSumExp = "log_sum_exp" {
        /// The axes that are folded.
        axes: [bool; MAX_RANK],
        /// Keep them with extent 1 instead of dropping them.
        keep_dims: bool,
    }
}

const SETTINGS: &[Setting] = &[
    Setting { name: "axes", expects: "an axis or a list of axes", default: Some("all") },
    Setting { name: "keep_dims", expects: "`true` or `false`", default: Some("false") },
];

macro_rules! reduce {
    ($( $name:ident, $text:literal, $kind:ident, $doc:literal, $check:expr; )*) => { $(
        impl Described for $name {
            const SPEC: Spec = Spec {
                name: $text,
                doc: $doc,
                operands: &["x"],
                optional: 0,
                variadic: false,
                settings: SETTINGS,
            };

            fn build(args: &Args<'_>) -> Result<$name, RuleError> {
                Ok($name { axes: args.axes("axes")?, keep_dims: args.bool("keep_dims", false)? })
            }
        }

        impl Operator for $name {
            fn infer(&self, inputs: &[Type]) -> Result<Type, RuleError> {
                let dtype = Kind::$kind.of_all(inputs)?;
                let check: fn(&Shape, &[bool; MAX_RANK]) -> Result<(), RuleError> = $check;
                check(&inputs[0].shape, &self.axes)?;
                let mut shape = Shape::SCALAR;
                for (axis, dim) in inputs[0].shape.dims().iter().enumerate() {
                    let kept = match (self.axes[axis], self.keep_dims) {
                        (false, _) => Some(*dim),
                        (true, true) => Some(Dim::new(1)),
                        (true, false) => None,
                    };
                    if let Some(dim) = kept {
                        shape = shape.with(dim).ok_or(RuleError::TooManyDims)?;
                    }
                }
                Ok(Type { dtype, shape })
            }

            fn strided_input(&self, _: usize) -> bool {
                true
            }

            fn through_f32(&self) -> bool {
                true
            }
        }
    )* };
}

reduce! {
    Sum, "sum", Numbers, "sum over axes", |_, _| Ok(());
    Mean, "mean", Floats, "mean over axes", |_, _| Ok(());
    Max, "max", Any, "largest element over axes, NaN if there is one", max_of_something;
    Min, "min", Any, "smallest element over axes, NaN if there is one", min_of_something;
    Prod, "prod", Numbers, "product over axes", |_, _| Ok(());
    SumSquare, "sum_square", Floats, "sum of squares over axes", |_, _| Ok(());
    L1, "l1", Floats, "sum of absolute values over axes", |_, _| Ok(());
    L2, "l2", Floats, "square root of the sum of squares over axes", |_, _| Ok(());
    LogSum, "log_sum", Floats, "natural logarithm of the sum over axes", |_, _| Ok(());
    LogSumExp, "log_sum_exp", Floats, "ln of the sum of exp(x) over axes, without overflow", |_, _| Ok(());
}

/// There is no largest of no elements.
fn max_of_something(shape: &Shape, axes: &[bool; MAX_RANK]) -> Result<(), RuleError> {
    of_something(shape, axes, "there is no largest element of none")
}

/// There is no smallest of no elements.
fn min_of_something(shape: &Shape, axes: &[bool; MAX_RANK]) -> Result<(), RuleError> {
    of_something(shape, axes, "there is no smallest element of none")
}

fn of_something(shape: &Shape, axes: &[bool; MAX_RANK], rule: &'static str) -> Result<(), RuleError> {
    let empty = shape.dims().iter().zip(axes).position(|(dim, marked)| *marked && dim.size == 0);
    match empty {
        Some(axis) if shape.dims().iter().zip(axes).all(|(dim, marked)| *marked || dim.size > 0) => {
            Err(RuleError::Extent { at: (0, axis), expected: 1, at_least: true, rule })
        }
        _ => Ok(()),
    }
}
