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
        /// The axes that are searched.
        axes: [bool; MAX_RANK],
        /// Keep them with extent 1 instead of dropping them.
        keep_dims: bool,
    }
    /// Product over the marked axes; 1 over no elements.
    Prod = "prod" {
        /// The axes that are multiplied over.
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
    Min, "min", Any, "smallest element over axes, NaN if there is one", max_of_something;
    Prod, "prod", Numbers, "product over axes", |_, _| Ok(());
}

/// There is no largest and no smallest of no elements.
fn max_of_something(shape: &Shape, axes: &[bool; MAX_RANK]) -> Result<(), RuleError> {
    let empty = shape.dims().iter().zip(axes).position(|(dim, marked)| *marked && dim.size == 0);
    match empty {
        Some(axis) if shape.dims().iter().zip(axes).all(|(dim, marked)| *marked || dim.size > 0) => {
            Err(RuleError::Extent {
                at: (0, axis),
                expected: 1,
                at_least: true,
                rule: "there is no largest and no smallest element of none",
            })
        }
        _ => Ok(()),
    }
}
