//! Normalisation of rows: layer norm and root-mean-square norm.

use super::rule::Kind;
use super::{Args, Described, Operator, RuleError, Setting, Spec, operator};
use crate::Type;

operator! {
    /// `(x - mean) / sqrt(var + eps) * scale + bias` over the dimensions from `axis` on, with the biased variance
    /// (Ba, Kiros and Hinton, 2016). Operands: x, optional scale, optional bias, which broadcast to x.
    LayerNorm = "layer_norm" {
        /// First of the dimensions that are normalised together.
        axis: usize,
        /// Added to the variance.
        eps: f32,
    }
    /// `x / sqrt(mean(x²) + eps) * scale` over the dimensions from `axis` on (Zhang and Sennrich, 2019).
    /// Operands: x, optional scale, which broadcasts to x.
    RmsNorm = "rms_norm" {
        /// First of the dimensions that are normalised together.
        axis: usize,
        /// Added to the mean square.
        eps: f32,
    }
}

const SETTINGS: &[Setting] = &[
    Setting { name: "axis", expects: "an axis", default: Some("-1") },
    Setting { name: "eps", expects: "a number", default: Some("1e-5") },
];

macro_rules! norm {
    ($( $name:ident, $text:literal, $doc:literal, $operands:expr; )*) => { $(
        impl Described for $name {
            const SPEC: Spec = Spec {
                name: $text,
                doc: $doc,
                operands: $operands,
                optional: $operands.len() - 1,
                variadic: false,
                settings: SETTINGS,
            };

            fn build(args: &Args<'_>) -> Result<$name, RuleError> {
                if args.inputs[0].shape.rank() == 0 {
                    return Err(RuleError::Rank { input: 0, expected: "at least 1 dimension" });
                }
                Ok($name { axis: args.axis("axis", 0, Some(-1))?, eps: args.float("eps", 1e-5)? })
            }
        }

        impl Operator for $name {
            fn through_f32(&self) -> bool {
                true
            }

            fn infer(&self, inputs: &[Type]) -> Result<Type, RuleError> {
                Kind::Floats.of_all(inputs)?;
                broadcasts_into(inputs)
            }

            fn in_place(&self, input: usize) -> bool {
                input == 0
            }
        }
    )* };
}

norm! {
    LayerNorm, "layer_norm", "(x - mean) / sqrt(var + eps) * scale + bias over the dimensions from axis on (arXiv 1607.06450)",
        &["x", "scale", "bias"];
    RmsNorm, "rms_norm", "x / sqrt(mean(x * x) + eps) * scale over the dimensions from axis on (arXiv 1910.07467)",
        &["x", "scale"];
}

/// Operand 0's type, when every other operand broadcasts to it.
fn broadcasts_into(inputs: &[Type]) -> Result<Type, RuleError> {
    let x = inputs[0].shape;
    for (input, operand) in inputs.iter().enumerate().skip(1) {
        let rank = operand.shape.rank();
        if rank > x.rank() {
            return Err(RuleError::Rank { input, expected: "no more dimensions than the first operand" });
        }
        for (axis, dim) in operand.shape.dims().iter().enumerate() {
            let target = axis + x.rank() - rank;
            if !dim.is_one() && *dim != x.dims()[target] {
                return Err(RuleError::Mismatch {
                    left: (0, target),
                    right: (input, axis),
                    rule: "extents have to be equal to the normalised ones, or 1, counted from the last dimension",
                });
            }
        }
    }
    Ok(inputs[0])
}
