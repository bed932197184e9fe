//! Elementwise functions of one tensor. Integers wrap; halves are computed with in `f32`.

use super::rule::{Kind, bad};
use super::{Args, Described, Field, Fields, Operator, RuleError, Setting, Spec, Value, operator};
use crate::Type;

operator! {
    /// `-x`.
    Neg = "neg" {}
    /// `max(x, 0)`.
    Relu = "relu" {}
    /// `x` where it is positive, else `slope * x`.
    LeakyRelu = "leaky_relu" {
        /// Factor of the negative side.
        slope: f32,
    }
    /// `1 / (1 + exp(-x))`.
    Sigmoid = "sigmoid" {}
    /// Hyperbolic tangent.
    Tanh = "tanh" {}
    /// `x * Φ(x)` with the normal distribution's Φ, or its tanh approximation (Hendrycks and Gimpel, 2016).
    Gelu = "gelu" {
        /// `0.5 x (1 + tanh(√(2/π) (x + 0.044715 x³)))` instead of `0.5 x (1 + erf(x / √2))`.
        tanh: bool,
    }
    /// `x * sigmoid(x)`.
    Silu = "silu" {}
    /// `e` to the power of `x`.
    Exp = "exp" {}
    /// Natural logarithm.
    Log = "log" {}
    /// Square root.
    Sqrt = "sqrt" {}
    /// Absolute value.
    Abs = "abs" {}
    /// The nearest whole number, the even one of two.
    Round = "round" {}
    /// The largest whole number that is not above.
    Floor = "floor" {}
    /// The smallest whole number that is not below.
    Ceil = "ceil" {}
    /// -1, 0 or 1, as the sign is.
    Sign = "sign" {}
    /// Sine.
    Sin = "sin" {}
    /// Cosine.
    Cos = "cos" {}
    /// The error function.
    Erf = "erf" {}
    /// `1 / x`.
    Reciprocal = "reciprocal" {}
    /// `min(max(x, low), high)`.
    Clamp = "clamp" {
        /// Lower limit.
        low: f32,
        /// Upper limit.
        high: f32,
    }
    /// `x` where it is positive, else `alpha * (exp(x) - 1)` (Clevert et al., 2015).
    Elu = "elu" {
        /// Minus the limit of the negative side.
        alpha: f32,
    }
    /// `1.0507 x` where `x` is positive, else `1.0507 * 1.6733 * (exp(x) - 1)`, with the constants to their last digit
    /// (Klambauer et al., 2017).
    Selu = "selu" {}
    /// `min(max(slope * x + offset, 0), 1)`.
    HardSigmoid = "hard_sigmoid" {
        /// What `x` is multiplied with.
        slope: f32,
        /// The value at 0.
        offset: f32,
    }
    /// `x * min(max(x / 6 + 0.5, 0), 1)` (Howard et al., 2019).
    HardSwish = "hard_swish" {}
    /// `ln(1 + exp(x))`.
    Softplus = "softplus" {}
    /// `x * tanh(softplus(x))` (Misra, 2019).
    Mish = "mish" {}
}

macro_rules! unary {
    ($( $name:ident, $text:literal, $kind:ident, $doc:literal, [$($setting:expr),*], |$args:ident| $build:expr; )*) => { $(
        impl Described for $name {
            const SPEC: Spec = Spec {
                name: $text,
                doc: $doc,
                operands: &["x"],
                optional: 0,
                variadic: false,
                settings: &[$($setting),*],
            };

            fn build($args: &Args<'_>) -> Result<$name, RuleError> {
                $build
            }
        }

        impl Operator for $name {
        fn settings(&self, _: &[Type], visit: &mut dyn FnMut(&'static str, Value<'_>)) {
            spell(self, visit);
        }

            fn infer(&self, inputs: &[Type]) -> Result<Type, RuleError> {
                Kind::$kind.of_all(inputs)?;
                Ok(inputs[0])
            }

            fn in_place(&self, _: usize) -> bool {
                true
            }

            fn strided_input(&self, _: usize) -> bool {
                true
            }

            fn strided_output(&self) -> bool {
                true
            }

            fn is_stage(&self) -> bool {
                true
            }
        }
    )* };
}

unary! {
    Neg, "neg", Signed, "-x", [], |_args| Ok(Neg {});
    Relu, "relu", Numbers, "max(x, 0)", [], |_args| Ok(Relu {});
    LeakyRelu, "leaky_relu", Floats, "x where it is positive, else slope * x",
        [Setting { name: "slope", expects: "a number", default: Some("0.01") }],
        |args| Ok(LeakyRelu { slope: args.float("slope", 0.01)? });
    Sigmoid, "sigmoid", Floats, "1 / (1 + exp(-x))", [], |_args| Ok(Sigmoid {});
    Tanh, "tanh", Floats, "hyperbolic tangent", [], |_args| Ok(Tanh {});
    Gelu, "gelu", Floats, "x * Φ(x), exact or by tanh (arXiv 1606.08415)",
        [Setting { name: "approximate", expects: "`none` or `tanh`", default: Some("none") }],
        |args| Ok(Gelu { tanh: args.word("approximate", &["none", "tanh"], "`none` or `tanh`")? == 1 });
    Silu, "silu", Floats, "x * sigmoid(x)", [], |_args| Ok(Silu {});
    Exp, "exp", Floats, "e to the power of x", [], |_args| Ok(Exp {});
    Log, "log", Floats, "natural logarithm", [], |_args| Ok(Log {});
    Sqrt, "sqrt", Floats, "square root", [], |_args| Ok(Sqrt {});
    Abs, "abs", Numbers, "absolute value", [], |_args| Ok(Abs {});
    Round, "round", Floats, "the nearest whole number, the even one of two", [], |_args| Ok(Round {});
    Floor, "floor", Floats, "the largest whole number that is not above", [], |_args| Ok(Floor {});
    Ceil, "ceil", Floats, "the smallest whole number that is not below", [], |_args| Ok(Ceil {});
    Sign, "sign", Numbers, "-1, 0 or 1, as the sign is; NaN of NaN", [], |_args| Ok(Sign {});
    Sin, "sin", Floats, "sine", [], |_args| Ok(Sin {});
    Cos, "cos", Floats, "cosine", [], |_args| Ok(Cos {});
    Erf, "erf", Floats, "the error function", [], |_args| Ok(Erf {});
    Reciprocal, "reciprocal", Floats, "1 / x", [], |_args| Ok(Reciprocal {});
    Clamp, "clamp", Numbers, "min(max(x, low), high)",
        [
            Setting { name: "low", expects: "a number", default: Some("no limit") },
            Setting { name: "high", expects: "a number not below `low`", default: Some("no limit") }
        ],
        |args| {
            let limit = |name, default| {
                let inexact = "a whole number that an f32 holds as it is, since the operand is of integers; `maximum` and `minimum` \
                               take others";
                args.float_beside(name, default, args.inputs[0].dtype, inexact)
            };
            let clamp = Clamp { low: limit("low", f32::NEG_INFINITY)?, high: limit("high", f32::INFINITY)? };
            let whole = |limit: f32| limit.is_infinite() || limit as i64 as f32 == limit;
            let limits = [("low", clamp.low), ("high", clamp.high)];
            if args.inputs[0].dtype.is_integer()
                && let Some((name, _)) = limits.iter().find(|(_, limit)| !whole(*limit))
            {
                return Err(bad(name, "a whole number, since the operand is of integers"));
            }
            if clamp.low > clamp.high { Err(bad("high", "a number not below `low`")) } else { Ok(clamp) }
        };
    Elu, "elu", Floats, "x where it is positive, else alpha * (exp(x) - 1) (arXiv 1511.07289)",
        [Setting { name: "alpha", expects: "a number", default: Some("1") }],
        |args| Ok(Elu { alpha: args.float("alpha", 1.0)? });
    Selu, "selu", Floats, "elu with alpha = 1.6733, times 1.0507 (arXiv 1706.02515)", [], |_args| Ok(Selu {});
    HardSigmoid, "hard_sigmoid", Floats, "min(max(slope * x + offset, 0), 1)",
        [
            Setting { name: "slope", expects: "a number", default: Some("1/6") },
            Setting { name: "offset", expects: "a number", default: Some("0.5") }
        ],
        |args| Ok(HardSigmoid { slope: args.float("slope", 1.0 / 6.0)?, offset: args.float("offset", 0.5)? });
    HardSwish, "hard_swish", Floats, "x * min(max(x / 6 + 0.5, 0), 1) (arXiv 1905.02244)", [], |_args| Ok(HardSwish {});
    Softplus, "softplus", Floats, "ln(1 + exp(x))", [], |_args| Ok(Softplus {});
    Mish, "mish", Floats, "x * tanh(softplus(x)) (arXiv 1908.08681)", [], |_args| Ok(Mish {});
}

/// The fields as settings; a limit that there is not is not written.
fn spell(op: &dyn Fields, visit: &mut dyn FnMut(&'static str, Value<'_>)) {
    op.fields(&mut |name, field| match (name, field) {
        ("tanh", Field::Bool(tanh)) => visit("approximate", Value::Word(if tanh { "tanh" } else { "none" })),
        (_, Field::F32(limit)) if limit.is_infinite() => {}
        _ => field.spell(&mut |value| visit(name, value)),
    });
}
