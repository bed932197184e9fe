//! Matrix product.

use super::rule::Kind;
use super::{Args, Described, Operator, RuleError, Spec, operator};
use crate::{Shape, Type};

operator! {
    /// `a @ b` with numpy's rules: the last two dimensions are matrices, the others broadcast, and a vector is a row on
    /// the left and a column on the right, whose dimension is then dropped.
    MatMul = "matmul" {}
}

impl Described for MatMul {
    const SPEC: Spec = Spec {
        name: "matmul",
        doc: "matrix product of the last two dimensions, the others broadcast (numpy.matmul)",
        operands: &["a", "b"],
        optional: 0,
        variadic: false,
        settings: &[],
    };

    fn build(_: &Args<'_>) -> Result<MatMul, RuleError> {
        Ok(MatMul {})
    }
}

impl Operator for MatMul {
    fn takes_stages(&self) -> bool {
        true
    }

    fn through_f32(&self) -> bool {
        true
    }

    fn infer(&self, inputs: &[Type]) -> Result<Type, RuleError> {
        let dtype = Kind::Floats.of_all(inputs)?;
        let (a, b) = (inputs[0].shape, inputs[1].shape);
        for (input, shape) in [a, b].iter().enumerate() {
            if shape.rank() == 0 {
                return Err(RuleError::Rank { input, expected: "at least 1 dimension" });
            }
        }
        let inner_a = a.rank() - 1;
        let inner_b = b.rank().saturating_sub(2);
        if a.dims()[inner_a] != b.dims()[inner_b] {
            return Err(RuleError::Mismatch {
                left: (0, inner_a),
                right: (1, inner_b),
                rule: "the columns of the left operand have to be as many as the rows of the right one",
            });
        }
        let batch = |shape: &Shape| Shape::new(&shape.dims()[..shape.rank().saturating_sub(2)]).unwrap_or_default();
        let mut shape = batch(&a).broadcast(&batch(&b)).map_err(|(left, right)| RuleError::Mismatch {
            left: (0, left),
            right: (1, right),
            rule: "the dimensions before the last two have to be equal, or one of them 1",
        })?;
        if a.rank() > 1 {
            shape = shape.with(a.dims()[a.rank() - 2]).ok_or(RuleError::TooManyDims)?;
        }
        if b.rank() > 1 {
            shape = shape.with(b.dims()[b.rank() - 1]).ok_or(RuleError::TooManyDims)?;
        }
        Ok(Type { dtype, shape })
    }

    fn strided_input(&self, _: usize) -> bool {
        true
    }
}
