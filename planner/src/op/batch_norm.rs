//! Batch normalisation with recorded statistics.

use super::rule::Kind;
use super::{Args, Described, Expected, Operator, RuleError, Setting, Spec, operator};
use crate::Type;

operator! {
    /// `(x - mean) / sqrt(var + eps) * scale + bias` per channel, with the recorded mean and variance
    /// (Ioffe and Szegedy, 2015). Operands: x, scale, bias, mean, var; the last four have one element per channel.
    BatchNorm = "batch_norm" {
        /// The channels' axis.
        axis: usize,
        /// Added to the variance.
        eps: f32,
    }
}

impl Described for BatchNorm {
    const SPEC: Spec = Spec {
        name: "batch_norm",
        doc: "(x - mean) / sqrt(var + eps) * scale + bias per channel, with recorded statistics (arXiv 1502.03167)",
        operands: &["x", "scale", "bias", "mean", "var"],
        optional: 0,
        variadic: false,
        settings: &[
            Setting { name: "axis", expects: "the channels' axis", default: Some("1") },
            Setting { name: "eps", expects: "a number", default: Some("1e-5") },
        ],
    };

    fn build(args: &Args<'_>) -> Result<BatchNorm, RuleError> {
        if args.inputs[0].shape.rank() < 2 && args.get("axis").is_none() {
            return Err(RuleError::Rank { input: 0, expected: "at least 2 dimensions, or the channels' `axis` named" });
        }
        Ok(BatchNorm { axis: args.axis("axis", 0, Some(1))?, eps: args.float("eps", 1e-5)? })
    }
}

impl Operator for BatchNorm {
    fn through_f32(&self) -> bool {
        true
    }

    fn infer(&self, inputs: &[Type]) -> Result<Type, RuleError> {
        Kind::Floats.of_all(inputs)?;
        let Some(channels) = inputs[0].shape.dims().get(self.axis) else {
            return Err(RuleError::Setting { name: "axis", expected: Expected::Axis(inputs[0].shape.rank()) });
        };
        for (input, operand) in inputs.iter().enumerate().skip(1) {
            if operand.shape.rank() != 1 {
                return Err(RuleError::Rank { input, expected: "1 dimension, an element per channel" });
            }
            if operand.shape.dims()[0] != *channels {
                return Err(RuleError::Mismatch {
                    left: (0, self.axis),
                    right: (input, 0),
                    rule: "there has to be one element per channel",
                });
            }
        }
        Ok(inputs[0])
    }

    fn in_place(&self, input: usize) -> bool {
        input == 0
    }
}
