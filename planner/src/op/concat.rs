//! Concatenation. It has no kernel: its parts are produced inside it, or copied there.

use super::{Action, Args, Described, Operator, RuleError, Setting, Spec, operator};
use crate::{Dim, Type};

operator! {
    /// The operands side by side along `axis`.
    Concat = "concat" {
        /// The axis along which they are laid.
        axis: usize,
    }
}

impl Described for Concat {
    const SPEC: Spec = Spec {
        name: "concat",
        doc: "the operands side by side along an axis",
        operands: &["parts"],
        optional: 0,
        variadic: true,
        settings: &[Setting { name: "axis", expects: "an axis", default: None }],
    };

    fn build(args: &Args<'_>) -> Result<Concat, RuleError> {
        if args.inputs[0].shape.rank() == 0 {
            return Err(RuleError::Rank { input: 0, expected: "at least 1 dimension" });
        }
        Ok(Concat { axis: args.axis("axis", 0, None)? })
    }
}

impl Operator for Concat {
    fn infer(&self, inputs: &[Type]) -> Result<Type, RuleError> {
        let mut output = inputs[0];
        let mut total = output.shape.dims()[self.axis];
        for (input, part) in inputs.iter().enumerate().skip(1) {
            if part.dtype != output.dtype {
                return Err(RuleError::Mixed { left: 0, right: input });
            }
            if part.shape.rank() != output.shape.rank() {
                return Err(RuleError::Rank { input, expected: "as many dimensions as the first part" });
            }
            for (axis, dim) in part.shape.dims().iter().enumerate() {
                if axis != self.axis && *dim != output.shape.dims()[axis] {
                    return Err(RuleError::Mismatch {
                        left: (0, axis),
                        right: (input, axis),
                        rule: "parts have to agree in every dimension but the one they are laid along",
                    });
                }
            }
            total = together(total, part.shape.dims()[self.axis])?;
        }
        if inputs.len() > 1 {
            output.shape.dims_mut()[self.axis] = total;
        }
        Ok(output)
    }

    fn action(&self) -> Action {
        Action::Concat(self.axis)
    }
}

/// Two extents laid side by side.
fn together(left: Dim, right: Dim) -> Result<Dim, RuleError> {
    let none = match left.is_open() && right.is_open() {
        true => RuleError::NoFormula { rule: "the sum of the parts' extents" },
        false => RuleError::Overflow,
    };
    left.joined(right).map(|dim| dim.named(0)).ok_or(none)
}
