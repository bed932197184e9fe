//! Products with a weight whose rows are the outputs, which may lie in half precision or in blocks.

use super::rule::Kind;
use super::{Action, Args, Described, Operator, RuleError, Spec, Value, operator};
use crate::{DType, Type};

operator! {
    /// `y[.., n] = Σ_k x[.., k] w[n, k] + bias[n]`, summed in `f32` whatever the elements are.
    Linear = "linear" {
        /// All is `f32`, and the call stands for a product, to which a bias is added.
        plain: bool,
    }
}

impl Described for Linear {
    const SPEC: Spec = Spec {
        name: "linear",
        doc: "x w' + bias, w with a row for each output (torch.nn.Linear); w may be f16, bf16, q8_0 or q4_0 beside an x of \
              another float",
        operands: &["x", "w", "bias"],
        optional: 1,
        variadic: false,
        settings: &[],
    };

    fn build(args: &Args<'_>) -> Result<Linear, RuleError> {
        Ok(Linear { plain: args.inputs.iter().all(|input| input.dtype == DType::F32) })
    }
}

impl Operator for Linear {
    fn settings(&self, _: &[Type], _: &mut dyn FnMut(&'static str, Value<'_>)) {}

    fn infer(&self, inputs: &[Type]) -> Result<Type, RuleError> {
        let dtype = Kind::Floats.check(inputs, 0)?;
        if !inputs[1].dtype.is_float() && !inputs[1].dtype.is_quantised() {
            return Err(RuleError::Elements { input: 1, expected: "f32, f16, bf16, q8_0 or q4_0" });
        }
        let (x, w) = (inputs[0].shape, inputs[1].shape);
        if x.rank() == 0 {
            return Err(RuleError::Rank { input: 0, expected: "at least 1 dimension" });
        }
        if w.rank() != 2 {
            return Err(RuleError::Rank { input: 1, expected: "2 dimensions" });
        }
        let last = x.rank() - 1;
        if x.dims()[last] != w.dims()[1] {
            return Err(RuleError::Mismatch {
                left: (0, last),
                right: (1, 1),
                rule: "the last dimension of x has to be as long as the rows of w",
            });
        }
        if let Some(bias) = inputs.get(2) {
            if bias.dtype != dtype {
                return Err(RuleError::Mixed { left: 0, right: 2 });
            }
            if bias.shape.rank() != 1 {
                return Err(RuleError::Rank { input: 2, expected: "1 dimension" });
            }
            if bias.shape.dims()[0] != w.dims()[0] {
                return Err(RuleError::Mismatch {
                    left: (1, 0),
                    right: (2, 0),
                    rule: "there is one bias for each row of w",
                });
            }
        }
        let mut shape = x;
        shape.dims_mut()[last] = w.dims()[0];
        Ok(Type { dtype, shape })
    }

    fn action(&self) -> Action {
        if self.plain { Action::Expand } else { Action::Compute }
    }

    #[cfg(feature = "alloc")]
    fn expand(
        &self,
        inputs: &[super::TensorId],
        _: &[Type],
        add: &mut super::AddCall<'_>,
    ) -> Result<super::Last, RuleError> {
        use alloc::rc::Rc;
        use alloc::vec;

        let columns = add("columns", Rc::new(super::Transpose {}), &[inputs[1]])?;
        let product: super::Last = (Rc::new(super::MatMul {}), vec![inputs[0], columns]);
        match inputs.get(2) {
            None => Ok(product),
            Some(bias) => {
                let product = add("product", product.0, &product.1)?;
                Ok((Rc::new(super::Add {}), vec![product, *bias]))
            }
        }
    }

    fn takes_blocks(&self, input: usize) -> bool {
        input == 1
    }
}
