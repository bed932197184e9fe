//! A tensor of one number. The planner makes it, as the border of a padded tensor; the language has no name for it.

use super::{Operator, RuleError, operator};
use crate::{DType, Dim, MAX_RANK, Shape, Type};

operator! {
    /// `value` in every element.
    Fill = "fill" {
        /// The extents; 1 beyond `rank`.
        dims: [Dim; MAX_RANK],
        /// How many of them count.
        rank: usize,
        /// What each element is.
        value: f32,
        /// The element type, which holds `value`.
        dtype: DType,
    }
}

impl Operator for Fill {
    fn infer(&self, _: &[Type]) -> Result<Type, RuleError> {
        let mut shape = Shape::SCALAR;
        for dim in self.dims.iter().take(self.rank) {
            shape = shape.with(*dim).ok_or(RuleError::TooManyDims)?;
        }
        Ok(Type { dtype: self.dtype, shape })
    }

    fn strided_output(&self) -> bool {
        true
    }
}
