//! Integers that stand for numbers: `number = scale * (integer - zero)`, as TensorFlow Lite defines it. What all operators
//! on them share, and those that work element by element or row by row.

use super::rule::bad;
use super::{Args, Described, Operator, RuleError, Setting, Spec, operator};
use crate::{DType, Type};

operator! {
    /// `x / scale`, rounded to the nearest integer, halves away from zero, plus `zero`, kept within `i8`. A NaN gives
    /// `zero`. Operands: x (`f32`), scale (one element, or one for each index of `axis`).
    Quantize = "quantize" {
        /// The integer that stands for 0.
        zero: i32,
        /// The axis that `scale` goes along, where it has more than one element.
        axis: usize,
    }
    /// `scale * (x - zero)`. Operands: x (`i8`), scale (one element, or one for each index of `axis`).
    Dequantize = "dequantize" {
        /// The integer that stands for 0.
        zero: i32,
        /// The axis that `scale` goes along, where it has more than one element.
        axis: usize,
    }
    /// `a + b` of `i8` tensors with numpy's broadcasting. Operands: a, b, the scales of a, of b and of the result.
    QAdd = "q_add" {
        /// The integer that stands for 0 in `a`.
        a_zero: i32,
        /// The integer that stands for 0 in `b`.
        b_zero: i32,
        /// The integer that stands for 0 in the result.
        y_zero: i32,
        /// The least integer of the result.
        low: i32,
        /// The largest integer of the result.
        high: i32,
    }
    /// Softmax of `beta * x` along the last axis of an `i8` tensor. The result's scale is 1/256 and its zero -128.
    /// Operands: x, its scale.
    QSoftmax = "q_softmax" {
        /// What the numbers are multiplied by before the softmax.
        beta: f32,
    }
}

/// What a scale may be that the whole tensor shares.
const ONE: &str = "one element: a number, or a tensor such as `Tensor<f32>`";

/// The setting that names a zero.
macro_rules! zero {
    ($name:literal) => {
        Setting { name: $name, expects: "a whole number from -128 to 127", default: Some("0") }
    };
}
pub(super) use zero;

/// The settings of an activation's range.
pub(super) const LOW: Setting =
    Setting { name: "low", expects: "a whole number from -128 to 127", default: Some("-128") };
/// As [`LOW`].
pub(super) const HIGH: Setting =
    Setting { name: "high", expects: "a whole number from -128 to 127", default: Some("127") };

impl Args<'_> {
    /// A whole number that an `i8` can hold, or `default`.
    pub(super) fn small(&self, name: &'static str, default: i32) -> Result<i32, RuleError> {
        let wrong = bad(name, "a whole number from -128 to 127");
        match self.get(name) {
            None => Ok(default),
            Some(super::Value::Int(value, _)) => i8::try_from(value).map(i32::from).map_err(|_| wrong),
            Some(_) => Err(wrong),
        }
    }

    /// The least and the largest integer of a result.
    pub(super) fn range(&self) -> Result<[i32; 2], RuleError> {
        let (low, high) = (self.small("low", -128)?, self.small("high", 127)?);
        if low <= high { Ok([low, high]) } else { Err(bad("low", "no more than `high`")) }
    }
}

/// Fails unless the operands have these element types, as far as they are given.
pub(super) fn dtypes(inputs: &[Type], expected: &[DType]) -> Result<(), RuleError> {
    match inputs.iter().zip(expected).position(|(input, expected)| input.dtype != *expected) {
        None => Ok(()),
        Some(input) => Err(RuleError::DType { input, expected: expected[input] }),
    }
}

/// Fails unless operand `input` is a single element.
pub(super) fn single(inputs: &[Type], input: usize) -> Result<(), RuleError> {
    let shape = &inputs[input].shape;
    match (shape.rank(), shape.elements()) {
        (0, _) | (1, Some(1)) => Ok(()),
        (1, _) => Err(RuleError::Extent {
            at: (input, 0),
            expected: 1,
            at_least: false,
            rule: "the whole tensor has one scale",
        }),
        _ => Err(RuleError::Rank { input, expected: ONE }),
    }
}

/// Fails unless operand `input` is a single element, or one for each index of `axis` of operand `of`.
pub(super) fn single_or_along(
    inputs: &[Type],
    input: usize,
    (of, axis): (usize, usize),
    rule: &'static str,
) -> Result<(), RuleError> {
    if single(inputs, input).is_ok() {
        return Ok(());
    }
    if inputs[input].shape.rank() != 1 {
        return Err(RuleError::Rank { input, expected: "one element, or 1 dimension with a scale for each channel" });
    }
    if inputs[input].shape.dims()[0] != inputs[of].shape.dims()[axis] {
        return Err(RuleError::Mismatch { left: (of, axis), right: (input, 0), rule });
    }
    Ok(())
}

macro_rules! quantization {
    ($( $name:ident, $text:literal, $doc:literal, $from:ident => $to:ident; )*) => { $(
        impl Described for $name {
            const SPEC: Spec = Spec {
                name: $text,
                doc: $doc,
                operands: &["x", "scale"],
                optional: 0,
                variadic: false,
                settings: &[
                    zero!("zero"),
                    Setting { name: "axis", expects: "the axis that `scale` goes along", default: Some("-1") },
                ],
            };

            fn build(args: &Args<'_>) -> Result<$name, RuleError> {
                let axis = match args.inputs[0].shape.rank() {
                    0 if args.get("axis").is_none() => 0,
                    _ => args.axis("axis", 0, Some(-1))?,
                };
                Ok($name { zero: args.small("zero", 0)?, axis })
            }
        }

        impl Operator for $name {
            fn infer(&self, inputs: &[Type]) -> Result<Type, RuleError> {
                dtypes(inputs, &[DType::$from, DType::F32])?;
                if inputs[0].shape.rank() == 0 {
                    single(inputs, 1)?;
                } else if self.axis < inputs[0].shape.rank() {
                    single_or_along(inputs, 1, (0, self.axis), "there has to be one scale for each index of `axis`")?;
                } else {
                    return Err(bad("axis", "an axis of `x`"));
                }
                Ok(Type { dtype: DType::$to, shape: inputs[0].shape })
            }

            fn settings(&self, inputs: &[Type], visit: &mut dyn FnMut(&'static str, super::Value<'_>)) {
                use super::{Field, Fields};
                self.fields(&mut |name, field: Field<'_>| {
                    // A scalar has no axis that could be named.
                    if name != "axis" || inputs[0].shape.rank() > 0 {
                        field.spell(&mut |value| visit(name, value));
                    }
                });
            }
        }
    )* };
}

quantization! {
    Quantize, "quantize", "f32 as i8: x / scale, rounded, plus `zero` (TensorFlow Lite)", F32 => I8;
    Dequantize, "dequantize", "i8 as f32: scale * (x - zero)", I8 => F32;
}

impl Described for QAdd {
    const SPEC: Spec = Spec {
        name: "q_add",
        doc: "a + b of i8 tensors, as TensorFlow Lite's reference computes it",
        operands: &["a", "b", "a_scale", "b_scale", "y_scale"],
        optional: 0,
        variadic: false,
        settings: &[zero!("a_zero"), zero!("b_zero"), zero!("y_zero"), LOW, HIGH],
    };

    fn build(args: &Args<'_>) -> Result<QAdd, RuleError> {
        let [low, high] = args.range()?;
        let (a_zero, b_zero) = (args.small("a_zero", 0)?, args.small("b_zero", 0)?);
        Ok(QAdd { a_zero, b_zero, y_zero: args.small("y_zero", 0)?, low, high })
    }
}

impl Operator for QAdd {
    fn infer(&self, inputs: &[Type]) -> Result<Type, RuleError> {
        dtypes(inputs, &[DType::I8, DType::I8, DType::F32, DType::F32, DType::F32])?;
        for scale in 2..5 {
            single(inputs, scale)?;
        }
        let shape = inputs[0].shape.broadcast(&inputs[1].shape).map_err(|(left, right)| RuleError::Mismatch {
            left: (0, left),
            right: (1, right),
            rule: "extents have to be equal, or one of them 1, counted from the last dimension",
        })?;
        Ok(Type { dtype: DType::I8, shape })
    }

    fn in_place(&self, input: usize) -> bool {
        input < 2
    }

    fn strided_input(&self, input: usize) -> bool {
        input < 2
    }

    fn strided_output(&self) -> bool {
        true
    }
}

impl Described for QSoftmax {
    const SPEC: Spec = Spec {
        name: "q_softmax",
        doc: "softmax of `beta * x` along the last axis of an i8 tensor, in the fixed-point numbers of TensorFlow Lite's \
              reference; the result has the scale 1/256 and the zero -128",
        operands: &["x", "x_scale"],
        optional: 0,
        variadic: false,
        settings: &[Setting { name: "beta", expects: "a number above 0", default: Some("1") }],
    };

    fn build(args: &Args<'_>) -> Result<QSoftmax, RuleError> {
        let beta = args.float("beta", 1.0)?;
        if beta > 0.0 { Ok(QSoftmax { beta }) } else { Err(bad("beta", "a number above 0")) }
    }
}

impl Operator for QSoftmax {
    fn infer(&self, inputs: &[Type]) -> Result<Type, RuleError> {
        dtypes(inputs, &[DType::I8, DType::F32])?;
        if inputs[0].shape.rank() == 0 {
            return Err(RuleError::Rank { input: 0, expected: "at least 1 dimension" });
        }
        single(inputs, 1)?;
        Ok(inputs[0])
    }

    fn in_place(&self, input: usize) -> bool {
        input == 0
    }
}
