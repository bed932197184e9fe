//! Writing a state. Its result is the state's next version, which has the state's bytes whatever else is planned.

use super::rule::bad;
use super::{Action, Args, Described, Expected, Operator, RuleError, Setting, Spec, Value, operator};
use crate::{DType, Type};

operator! {
    /// The state with the rows from a position on replaced by those of the source, or all of it. Operands: the state or
    /// its version so far, the source, and optionally the position, a scalar `u32`.
    Write = "write" {
        /// The axis that rows are counted along.
        axis: usize,
        /// The first row that is replaced, where no operand says it.
        at: usize,
        /// All of the state is replaced.
        whole: bool,
    }
}

impl Described for Write {
    const SPEC: Spec = Spec {
        name: "write",
        doc: "the next version of a state: the rows from position `at` on, along an axis, are replaced by those of `src`; \
              without `at` all of it is",
        operands: &["state", "src", "at"],
        optional: 1,
        variadic: false,
        settings: &[
            Setting { name: "axis", expects: "an axis", default: Some("0") },
            Setting { name: "at", expects: "a position", default: Some("the whole state") },
        ],
    };

    fn build(args: &Args<'_>) -> Result<Write, RuleError> {
        let constant = args.get("at").is_some();
        match (constant, args.inputs.len() > 2) {
            (true, true) => Err(bad("at", "one position: a number, or a scalar of u32")),
            (false, false) if args.get("axis").is_some() => {
                Err(RuleError::Missing { name: "at", expects: "the position of the first row" })
            }
            (false, false) => Ok(Write { axis: 0, at: 0, whole: true }),
            _ => Ok(Write { axis: args.axis("axis", 0, Some(0))?, at: args.size("at", 0, Some(0))?, whole: false }),
        }
    }
}

impl Operator for Write {
    fn settings(&self, inputs: &[Type], visit: &mut dyn FnMut(&'static str, Value<'_>)) {
        let int = |value: usize| Value::Int(i64::try_from(value).unwrap_or(i64::MAX), 0);
        if self.whole {
            return;
        }
        if self.axis > 0 {
            visit("axis", int(self.axis));
        }
        if inputs.len() < 3 {
            visit("at", int(self.at));
        }
    }

    fn infer(&self, inputs: &[Type]) -> Result<Type, RuleError> {
        let (state, src) = (inputs[0], inputs[1]);
        if src.dtype != state.dtype {
            return Err(RuleError::DType { input: 1, expected: state.dtype });
        }
        if src.shape.rank() != state.shape.rank() {
            return Err(RuleError::Rank { input: 1, expected: "as many dimensions as the state has" });
        }
        if !self.whole && self.axis >= state.shape.rank() {
            return Err(RuleError::Setting { name: "axis", expected: Expected::Axis(state.shape.rank()) });
        }
        for (axis, (whole, part)) in state.shape.dims().iter().zip(src.shape.dims()).enumerate() {
            let along = !self.whole && axis == self.axis;
            if if along { !part.at_most(*whole) } else { part != whole } {
                let rule = match (self.whole, along) {
                    (true, _) => {
                        "without `at = …`, which replaces rows alone, the source has to have the state's extents"
                    }
                    (_, true) => "the source cannot have more rows than the state",
                    (_, false) => "beside the rows the source has to have the state's extents",
                };
                return Err(RuleError::Mismatch { left: (0, axis), right: (1, axis), rule });
            }
            if along && inputs.len() < 3 && self.at > whole.size - part.size {
                let last = i64::try_from(whole.size - part.size).unwrap_or(i64::MAX);
                return Err(RuleError::Setting { name: "at", expected: Expected::Between(0, last) });
            }
        }
        if let Some(at) = inputs.get(2) {
            if at.dtype != DType::U32 {
                return Err(RuleError::DType { input: 2, expected: DType::U32 });
            }
            if at.shape.rank() != 0 {
                return Err(RuleError::Rank { input: 2, expected: "a scalar" });
            }
        }
        Ok(state)
    }

    fn action(&self) -> Action {
        Action::Write
    }

    fn in_place(&self, input: usize) -> bool {
        input == 0
    }

    fn strided_input(&self, input: usize) -> bool {
        input == 1
    }
}
