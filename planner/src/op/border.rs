//! A border that repeats what it surrounds. The planner makes it, around a tensor that is padded by reflection or by its
//! edge; the language has no name for it.

use super::rule::Kind;
use super::{Args, Described, Operator, RuleError, Spec, operator};
use crate::{Dim, Type};

operator! {
    /// `count` indices along `axis`: index `i` of the result is index `first - i` of the operand, or always `first`.
    Border = "border" {
        /// The axis along which indices are picked.
        axis: usize,
        /// How many there are.
        count: usize,
        /// The operand's index that is the result's first.
        first: Dim,
        /// From there on backwards.
        back: bool,
    }
}

/// Not in the registry: a call of the language cannot name it.
impl Described for Border {
    const SPEC: Spec = Spec {
        name: "border",
        doc: "indices of the operand from one on, backwards or always the same",
        operands: &["x"],
        optional: 0,
        variadic: false,
        settings: &[],
    };

    fn build(_: &Args<'_>) -> Result<Border, RuleError> {
        Ok(Border { axis: 0, count: 0, first: Dim::new(0), back: false })
    }
}

impl Operator for Border {
    fn infer(&self, inputs: &[Type]) -> Result<Type, RuleError> {
        Kind::Any.of_all(inputs)?;
        let mut output = inputs[0];
        let rule = "a border repeats elements that are there";
        let needed = self.first.plus(1).ok_or(RuleError::Overflow)?;
        let dim = output.shape.dims_mut().get_mut(self.axis).ok_or(RuleError::TooManyDims)?;
        if !needed.at_most(*dim) || self.back && !Dim::new(self.count).at_most(needed) {
            let expected = needed.size.max(self.count);
            return Err(RuleError::Extent { at: (0, self.axis), expected, at_least: true, rule });
        }
        *dim = Dim::new(self.count);
        Ok(output)
    }

    fn strided_input(&self, _: usize) -> bool {
        true
    }

    fn strided_output(&self) -> bool {
        true
    }
}
