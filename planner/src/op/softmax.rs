//! Softmax and its logarithm along one axis.

use super::rule::Kind;
use super::{Args, Described, Operator, RuleError, Setting, Spec, operator};
use crate::Type;

operator! {
    /// `exp(x - max) / sum(exp(x - max))` along `axis`. A row of nothing but -∞ gives zeros.
    Softmax = "softmax" {
        /// The axis that is normalised.
        axis: usize,
    }
    /// The logarithm of softmax along `axis`. A row of nothing but -∞ gives -∞.
    LogSoftmax = "log_softmax" {
        /// The axis that is normalised.
        axis: usize,
    }
}

const AXIS: Setting = Setting { name: "axis", expects: "an axis", default: Some("-1") };

macro_rules! softmax {
    ($( $name:ident, $text:literal, $doc:literal; )*) => { $(
        impl Described for $name {
            const SPEC: Spec = Spec {
                name: $text,
                doc: $doc,
                operands: &["x"],
                optional: 0,
                variadic: false,
                settings: &[AXIS],
            };

            fn build(args: &Args<'_>) -> Result<$name, RuleError> {
                if args.inputs[0].shape.rank() == 0 {
                    return Err(RuleError::Rank { input: 0, expected: "at least 1 dimension" });
                }
                Ok($name { axis: args.axis("axis", 0, Some(-1))? })
            }
        }

        impl Operator for $name {
            fn through_f32(&self) -> bool {
                true
            }

            fn infer(&self, inputs: &[Type]) -> Result<Type, RuleError> {
                Kind::Floats.of_all(inputs)?;
                Ok(inputs[0])
            }

            fn in_place(&self, _: usize) -> bool {
                true
            }
        }
    )* };
}

softmax! {
    Softmax, "softmax", "exp(x) / sum(exp(x)) along an axis; zeros where all are -inf";
    LogSoftmax, "log_softmax", "the logarithm of softmax along an axis";
}
