//! Elementwise functions of two tensors, with numpy's broadcasting.

use super::rule::f32_only;
use super::{Args, Described, Operator, RuleError, Spec, operator};
use crate::Type;

operator! {
    /// `a + b`.
    Add = "add" {}
    /// `a - b`.
    Sub = "sub" {}
    /// `a * b`.
    Mul = "mul" {}
    /// `a / b`.
    Div = "div" {}
    /// The larger of two; NaN if either is, as numpy's `maximum`.
    Maximum = "maximum" {}
    /// The smaller of two; NaN if either is, as numpy's `minimum`.
    Minimum = "minimum" {}
    /// `a` where it is positive, else `a * b`: b is the slope of the negative side (He et al., 2015).
    Prelu = "prelu" {}
}

macro_rules! binary {
    ($( $name:ident, $text:literal, $doc:literal; )*) => { $(
        impl Described for $name {
            const SPEC: Spec = Spec {
                name: $text,
                doc: $doc,
                operands: &["a", "b"],
                optional: 0,
                variadic: false,
                settings: &[],
            };

            fn build(_: &Args<'_>) -> Result<$name, RuleError> {
                Ok($name {})
            }
        }

        impl Operator for $name {
            fn infer(&self, inputs: &[Type]) -> Result<Type, RuleError> {
                f32_only(inputs)?;
                let shape = inputs[0].shape.broadcast(&inputs[1].shape).map_err(|(left, right)| RuleError::Mismatch {
                    left: (0, left),
                    right: (1, right),
                    rule: "extents have to be equal, or one of them 1, counted from the last dimension",
                })?;
                Ok(Type::f32(shape))
            }

            fn in_place(&self, _: usize) -> bool {
                true
            }

            fn strided_input(&self, _: usize) -> bool {
                true
            }

            fn strided_output(&self) -> bool {
                true
            }

            fn is_stage(&self) -> bool {
                true
            }
        }
    )* };
}

binary! {
    Add, "add", "a + b";
    Sub, "sub", "a - b";
    Mul, "mul", "a * b";
    Div, "div", "a / b";
    Maximum, "maximum", "the larger of two, NaN if either is";
    Minimum, "minimum", "the smaller of two, NaN if either is";
    Prelu, "prelu", "a where it is positive, else a * b, with a slope b that broadcasts (arXiv 1502.01852)";
}
