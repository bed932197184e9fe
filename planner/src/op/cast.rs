//! Casts between element types.

use super::{Args, Described, Operator, RuleError, Setting, Spec, Value, operator};
use crate::{DType, Type};

operator! {
    /// The elements in another type, as Rust's `as` has it: to a float of fewer bits rounded to the nearest, the even one
    /// of two; from a float to an integer the part before the point, limits where it lies beyond them, 0 for NaN; from an
    /// integer to a smaller one its lower bits. From `bool` 0 or 1; to `bool` whether it differs from 0. Weights in blocks
    /// become floats.
    Cast = "cast" {
        /// The element type of the result.
        to: DType,
    }
}

const WORDS: &str = "an element type such as `f16`, without blocks";

impl Described for Cast {
    const SPEC: Spec = Spec {
        name: "cast",
        doc: "the elements in another type, as Rust's `as`; also written x as f16",
        operands: &["x"],
        optional: 0,
        variadic: false,
        settings: &[Setting { name: "to", expects: "an element type", default: None }],
    };

    fn build(args: &Args<'_>) -> Result<Cast, RuleError> {
        let Some(given) = args.get("to") else {
            return Err(RuleError::Missing { name: "to", expects: "an element type" });
        };
        let dtype = match given {
            Value::Word(word) => DType::from_name(word).filter(|dtype| !dtype.is_quantised()),
            _ => None,
        };
        Ok(Cast { to: dtype.ok_or(super::rule::bad("to", WORDS))? })
    }
}

impl Operator for Cast {
    fn infer(&self, inputs: &[Type]) -> Result<Type, RuleError> {
        if self.to.is_quantised() {
            return Err(super::rule::bad("to", WORDS));
        }
        if inputs[0].dtype.is_quantised() && !self.to.is_float() {
            return Err(super::rule::bad("to", "f32, f16 or bf16, since the operand is a weight in blocks"));
        }
        Ok(Type { dtype: self.to, shape: inputs[0].shape })
    }

    fn strided_input(&self, _: usize) -> bool {
        true
    }

    fn strided_output(&self) -> bool {
        true
    }

    fn takes_blocks(&self, _: usize) -> bool {
        true
    }
}
