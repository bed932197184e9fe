//! Normalisation of groups of channels, and of vectors by their length.

use super::rule::{Kind, bad};
use super::{Action, Args, Described, Operator, RuleError, Setting, Spec, operator};
#[cfg(feature = "alloc")]
use crate::MAX_RANK;
use crate::Type;

operator! {
    /// `(x - mean) / sqrt(var + eps) * scale + bias` with mean and biased variance of each group of neighbouring channels
    /// (Wu and He, 2018). Operands: x (`N C ..`), optional scale (`C`), optional bias (`C`).
    GroupNorm = "group_norm" {
        /// How many groups the channels make.
        groups: usize,
        /// Added to the variance.
        eps: f32,
    }
    /// The same with every channel a group (Ulyanov et al., 2016).
    InstanceNorm = "instance_norm" {
        /// Added to the variance.
        eps: f32,
    }
    /// `x / max(‖x‖, eps)` along an axis, with the sum of absolute values or the square root of the sum of squares as
    /// `‖x‖` (PyTorch's `normalize`).
    LpNorm = "lp_norm" {
        /// The axis along which vectors lie.
        axis: usize,
        /// 1 or 2.
        p: usize,
        /// The least that is divided by.
        eps: f32,
    }
}

const EPS: Setting = Setting { name: "eps", expects: "a number", default: Some("1e-5") };

impl Described for GroupNorm {
    const SPEC: Spec = Spec {
        name: "group_norm",
        doc: "(x - mean) / sqrt(var + eps) * scale + bias of N C .. per group of channels (arXiv 1803.08494)",
        operands: &["x", "scale", "bias"],
        optional: 2,
        variadic: false,
        settings: &[Setting { name: "groups", expects: "a divisor of the channels", default: None }, EPS],
    };

    fn build(args: &Args<'_>) -> Result<GroupNorm, RuleError> {
        Ok(GroupNorm { groups: args.size("groups", 1, None)?, eps: args.float("eps", 1e-5)? })
    }
}

impl Described for InstanceNorm {
    const SPEC: Spec = Spec {
        name: "instance_norm",
        doc: "(x - mean) / sqrt(var + eps) * scale + bias of N C .. per channel of each instance (arXiv 1607.08022)",
        operands: &["x", "scale", "bias"],
        optional: 2,
        variadic: false,
        settings: &[EPS],
    };

    fn build(args: &Args<'_>) -> Result<InstanceNorm, RuleError> {
        Ok(InstanceNorm { eps: args.float("eps", 1e-5)? })
    }
}

fn infer(inputs: &[Type], groups: Option<usize>) -> Result<Type, RuleError> {
    Kind::Floats.of_all(inputs)?;
    let x = inputs[0].shape;
    if x.rank() < 2 {
        return Err(RuleError::Rank { input: 0, expected: "at least 2 dimensions, the channels second" });
    }
    if groups.is_some_and(|groups| x.dims()[1].over_exactly(groups).is_none()) {
        return Err(RuleError::Setting { name: "groups", expected: super::axes::divisor(x.dims()[1]) });
    }
    for (input, operand) in inputs.iter().enumerate().skip(1) {
        if operand.shape.rank() != 1 {
            return Err(RuleError::Rank { input, expected: "1 dimension, an element per channel" });
        }
        if operand.shape.dims()[0] != x.dims()[1] {
            let rule = "there has to be one element per channel";
            return Err(RuleError::Mismatch { left: (0, 1), right: (input, 0), rule });
        }
    }
    Ok(inputs[0])
}

impl Operator for GroupNorm {
    fn through_f32(&self) -> bool {
        true
    }

    fn infer(&self, inputs: &[Type]) -> Result<Type, RuleError> {
        infer(inputs, Some(self.groups))
    }

    fn in_place(&self, input: usize) -> bool {
        input == 0
    }
}

impl Operator for InstanceNorm {
    fn through_f32(&self) -> bool {
        true
    }

    fn infer(&self, inputs: &[Type]) -> Result<Type, RuleError> {
        infer(inputs, None)
    }

    fn in_place(&self, input: usize) -> bool {
        input == 0
    }
}

impl Described for LpNorm {
    const SPEC: Spec = Spec {
        name: "lp_norm",
        doc: "x / max(‖x‖, eps) along an axis, with the sum of absolute values (p = 1) or the Euclidean length (p = 2)",
        operands: &["x"],
        optional: 0,
        variadic: false,
        settings: &[
            Setting { name: "axis", expects: "an axis", default: Some("-1") },
            Setting { name: "p", expects: "1 or 2", default: Some("2") },
            Setting { name: "eps", expects: "a number", default: Some("1e-12") },
        ],
    };

    fn build(args: &Args<'_>) -> Result<LpNorm, RuleError> {
        if args.inputs[0].shape.rank() == 0 {
            return Err(RuleError::Rank { input: 0, expected: "at least 1 dimension" });
        }
        let p = args.size("p", 1, Some(2))?;
        if p > 2 {
            return Err(bad("p", "1 or 2"));
        }
        Ok(LpNorm { axis: args.axis("axis", 0, Some(-1))?, p, eps: args.float("eps", 1e-12)? })
    }
}

#[cfg(feature = "alloc")]
impl LpNorm {
    fn axes(&self) -> [bool; MAX_RANK] {
        let mut axes = [false; MAX_RANK];
        axes[self.axis] = true;
        axes
    }
}

impl Operator for LpNorm {
    fn infer(&self, inputs: &[Type]) -> Result<Type, RuleError> {
        Kind::Floats.of_all(inputs)?;
        Ok(inputs[0])
    }

    fn action(&self) -> Action {
        Action::Expand
    }

    /// A length, a limit, a quotient.
    #[cfg(feature = "alloc")]
    fn expand(
        &self,
        inputs: &[super::TensorId],
        _: &[Type],
        add: &mut super::AddCall<'_>,
    ) -> Result<super::Last, RuleError> {
        use alloc::rc::Rc;

        let axes = self.axes();
        let length: Rc<dyn Operator> = match self.p {
            1 => Rc::new(super::L1 { axes, keep_dims: true }),
            _ => Rc::new(super::L2 { axes, keep_dims: true }),
        };
        let length = add("length", length, inputs)?;
        let limit = super::Clamp { low: self.eps, high: f32::INFINITY };
        let divisor = add("divisor", Rc::new(limit), &[length])?;
        Ok((Rc::new(super::Div {}), alloc::vec![inputs[0], divisor]))
    }
}
