//! Comparisons, logic, and the choice between two tensors.

use super::binary::broadcast;
use super::rule::Kind;
use super::{Args, Described, Operator, RuleError, Spec, operator};
use crate::{DType, Type};

operator! {
    /// `a == b`; NaN equals nothing.
    Equal = "equal" {}
    /// `a != b`.
    NotEqual = "not_equal" {}
    /// `a < b`; false where either is NaN, as in the three below.
    Less = "less" {}
    /// `a <= b`.
    LessEqual = "less_equal" {}
    /// `a > b`.
    Greater = "greater" {}
    /// `a >= b`.
    GreaterEqual = "greater_equal" {}
    /// Whether it is not a number.
    IsNan = "is_nan" {}
    /// Whether it is infinite.
    IsInf = "is_inf" {}
    /// Both; bit by bit of integers.
    And = "and" {}
    /// Either; bit by bit of integers.
    Or = "or" {}
    /// One and not the other; bit by bit of integers.
    Xor = "xor" {}
    /// The opposite; bit by bit of integers.
    Not = "not" {}
    /// `a` where `condition` holds, `b` elsewhere.
    Where = "where" {}
}

macro_rules! described {
    ($( $name:ident, $text:literal, $operands:expr, $doc:literal; )*) => { $(
        impl Described for $name {
            const SPEC: Spec =
                Spec { name: $text, doc: $doc, operands: $operands, optional: 0, variadic: false, settings: &[] };

            fn build(_: &Args<'_>) -> Result<$name, RuleError> {
                Ok($name {})
            }
        }
    )* };
}

described! {
    Equal, "equal", &["a", "b"], "whether a and b are equal; also written a == b";
    NotEqual, "not_equal", &["a", "b"], "whether a and b differ; also written a != b";
    Less, "less", &["a", "b"], "whether a is below b; also written a < b";
    LessEqual, "less_equal", &["a", "b"], "whether a is not above b, false where either is NaN; also written a <= b";
    Greater, "greater", &["a", "b"], "whether a is above b; also written a > b";
    GreaterEqual, "greater_equal", &["a", "b"], "whether a is not below b, false where either is NaN; also written a >= b";
    IsNan, "is_nan", &["x"], "whether x is not a number";
    IsInf, "is_inf", &["x"], "whether x is infinite";
    And, "and", &["a", "b"], "both, bit by bit of integers; also written a & b";
    Or, "or", &["a", "b"], "either, bit by bit of integers; also written a | b";
    Xor, "xor", &["a", "b"], "one and not the other, bit by bit of integers; also written a ^ b";
    Not, "not", &["x"], "the opposite, bit by bit of integers; also written !x";
    Where, "where", &["condition", "a", "b"], "a where the condition holds, b elsewhere";
}

macro_rules! strided {
    ($in_place:expr) => {
        fn in_place(&self, input: usize) -> bool {
            let _ = input;
            $in_place(input)
        }

        fn strided_input(&self, _: usize) -> bool {
            true
        }

        fn strided_output(&self) -> bool {
            true
        }
    };
}

macro_rules! comparison {
    ($($name:ident $kind:ident)*) => { $(
        impl Operator for $name {
            fn infer(&self, inputs: &[Type]) -> Result<Type, RuleError> {
                Kind::$kind.of_all(inputs)?;
                Ok(Type { dtype: DType::Bool, shape: broadcast(inputs, [0, inputs.len() - 1])? })
            }

            strided! { |_| false }
        }
    )* };
}
comparison! {
    Equal Any NotEqual Any Less Numbers LessEqual Numbers Greater Numbers GreaterEqual Numbers IsNan Floats IsInf Floats
}

macro_rules! logic {
    ($($name:ident)*) => { $(
        impl Operator for $name {
            fn infer(&self, inputs: &[Type]) -> Result<Type, RuleError> {
                let dtype = Kind::Bits.of_all(inputs)?;
                Ok(Type { dtype, shape: broadcast(inputs, [0, inputs.len() - 1])? })
            }

            strided! { |_| true }
        }
    )* };
}
logic! { And Or Xor Not }

impl Operator for Where {
    fn infer(&self, inputs: &[Type]) -> Result<Type, RuleError> {
        Kind::Bool.check(inputs, 0)?;
        let dtype = Kind::Any.of_those_from(inputs, 1)?;
        let sides = Type { dtype, shape: broadcast(inputs, [1, 2])? };
        let shape = inputs[0].shape.broadcast(&sides.shape).map_err(|(left, right)| RuleError::Mismatch {
            left: (0, left),
            right: (1, right.min(inputs[1].shape.rank().saturating_sub(1))),
            rule: "the condition has to have the extents of what it chooses from, or 1, counted from the last dimension",
        })?;
        Ok(Type { dtype, shape })
    }

    strided! { |input| input > 0 }
}
