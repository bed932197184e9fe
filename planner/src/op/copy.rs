//! A packed copy of a tensor that lies strided.

use super::{Args, Described, Operator, RuleError, Spec, operator};
use crate::Type;

operator! {
    /// The same elements in storage of their own. The planner adds it where a consumer needs packed elements and where
    /// a part of a concatenation cannot be produced in place.
    Copy = "copy" {}
}

impl Described for Copy {
    const SPEC: Spec = Spec {
        name: "copy",
        doc: "the same elements in packed storage of their own",
        operands: &["x"],
        optional: 0,
        variadic: false,
        settings: &[],
    };

    fn build(_: &Args<'_>) -> Result<Copy, RuleError> {
        Ok(Copy {})
    }
}

impl Operator for Copy {
    fn infer(&self, inputs: &[Type]) -> Result<Type, RuleError> {
        Ok(inputs[0])
    }

    fn strided_input(&self, _: usize) -> bool {
        true
    }

    fn strided_output(&self) -> bool {
        true
    }
}
