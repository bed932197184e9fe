//! Elementwise functions of two tensors, with numpy's broadcasting. Integers wrap; halves are computed with in `f32`.

use super::rule::Kind;
use super::{Args, Described, Operator, RuleError, Spec, operator};
use crate::{Shape, Type};

operator! {
    /// `a + b`.
    Add = "add" {}
    /// `a - b`.
    Sub = "sub" {}
    /// `a * b`.
    Mul = "mul" {}
    /// `a / b`. Of integers the part before the point, and 0 where `b` is 0, as ARM's `sdiv` has it.
    Div = "div" {}
    /// The larger of two; NaN if either is, as numpy's `maximum`.
    Maximum = "maximum" {}
    /// The smaller of two; NaN if either is, as numpy's `minimum`.
    Minimum = "minimum" {}
    /// `a` where it is positive, else `a * b`: b is the slope of the negative side (He et al., 2015).
    Prelu = "prelu" {}
    /// `a` to the power of `b`.
    Pow = "pow" {}
    /// What is left of `a` after division by `b`, with the sign of `a`, as Rust's `%`. Of integers 0 where `b` is 0.
    Rem = "rem" {}
    /// What is left of `a` after division by `b`, with the sign of `b`, as Python's `%`. Of integers 0 where `b` is 0.
    Modulo = "modulo" {}
}

/// The shape of two operands, broadcast.
pub(super) fn broadcast(inputs: &[Type], [left, right]: [usize; 2]) -> Result<Shape, RuleError> {
    inputs[left].shape.broadcast(&inputs[right].shape).map_err(|(at_left, at_right)| RuleError::Mismatch {
        left: (left, at_left),
        right: (right, at_right),
        rule: "extents have to be equal, or one of them 1, counted from the last dimension",
    })
}

macro_rules! binary {
    ($( $name:ident, $text:literal, $kind:ident, $doc:literal; )*) => { $(
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
                let dtype = Kind::$kind.of_all(inputs)?;
                Ok(Type { dtype, shape: broadcast(inputs, [0, 1])? })
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
    Add, "add", Numbers, "a + b";
    Sub, "sub", Numbers, "a - b";
    Mul, "mul", Numbers, "a * b";
    Div, "div", Numbers, "a / b; of integers the part before the point, 0 where b is 0";
    Maximum, "maximum", Numbers, "the larger of two, NaN if either is";
    Minimum, "minimum", Numbers, "the smaller of two, NaN if either is";
    Prelu, "prelu", Floats, "a where it is positive, else a * b, with a slope b that broadcasts (arXiv 1502.01852)";
    Pow, "pow", Floats, "a to the power of b";
    Rem, "rem", Numbers, "what is left of a / b, with the sign of a; also written a % b";
    Modulo, "modulo", Numbers, "what is left of a / b, with the sign of b, as Python's %";
}
