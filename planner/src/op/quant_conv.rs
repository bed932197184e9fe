//! Convolutions and products of quantised tensors, as TensorFlow Lite's reference computes them: images `N H W C`, sums
//! in `i32`, each rescaled by a fixed-point multiplier that is made of the scales.

use super::quant::{HIGH, LOW, dtypes, single, single_or_along, zero};
use super::window::{extent, least, named, padding, plane, taps};
use super::{Args, Described, Operator, RuleError, Setting, Spec, operator};
use crate::{DType, Dim, Shape, Type};

operator! {
    /// Convolution of `i8` images. Operands: x (`N H W C`), w (`O KH KW C`, its zero is 0), the scales of x, of w (one, or
    /// one for each filter) and of the result, optional bias (`i32`, `O`, in units of `x_scale * w_scale`).
    QConv2d = "q_conv2d" {
        /// Distance between applications, vertical and horizontal.
        stride: [usize; 2],
        /// Rows and columns of zeros at top, left, bottom, right.
        padding: [usize; 4],
        /// Distance between a filter's taps, vertical and horizontal.
        dilation: [usize; 2],
        /// The integer that stands for 0 in the images.
        x_zero: i32,
        /// The integer that stands for 0 in the result.
        y_zero: i32,
        /// The least integer of the result.
        low: i32,
        /// The largest integer of the result.
        high: i32,
    }
    /// Convolution of `i8` images in which every channel has `M` filters of its own. Operands as of [`QConv2d`], with w
    /// as `1 KH KW C*M`; channel `c` of the images gives the channels from `c * M` on of the result.
    QDepthwiseConv2d = "q_depthwise_conv2d" {
        /// Distance between applications, vertical and horizontal.
        stride: [usize; 2],
        /// Rows and columns of zeros at top, left, bottom, right.
        padding: [usize; 4],
        /// Distance between a filter's taps, vertical and horizontal.
        dilation: [usize; 2],
        /// The integer that stands for 0 in the images.
        x_zero: i32,
        /// The integer that stands for 0 in the result.
        y_zero: i32,
        /// The least integer of the result.
        low: i32,
        /// The largest integer of the result.
        high: i32,
    }
    /// `f32` images, quantised as they come to `-127..=127` with a scale of their own each, convolved with `i8` filters:
    /// TensorFlow Lite's hybrid convolution, for files whose weights alone are quantised. Operands: x (`f32`, `N H W C`),
    /// w (`i8`, `O KH KW C`), the scale of w (one, or one for each filter), optional bias (`f32`, `O`).
    HybridConv2d = "hybrid_conv2d" {
        /// Distance between applications, vertical and horizontal.
        stride: [usize; 2],
        /// Rows and columns of zeros at top, left, bottom, right.
        padding: [usize; 4],
        /// Distance between a filter's taps, vertical and horizontal.
        dilation: [usize; 2],
    }
    /// Rows of `i8` times the rows of a matrix. Operands: x (`.. K`), w (`N K`, its zero is 0), the scales of x, of w (one,
    /// or one for each row) and of the result, optional bias (`i32`, `N`, in units of `x_scale * w_scale`).
    QLinear = "q_linear" {
        /// The integer that stands for 0 in `x`.
        x_zero: i32,
        /// The integer that stands for 0 in the result.
        y_zero: i32,
        /// The least integer of the result.
        low: i32,
        /// The largest integer of the result.
        high: i32,
    }
}

const STRIDE: Setting =
    Setting { name: "stride", expects: "one number or `[vertical, horizontal]`", default: Some("1") };
const PADDING: Setting = Setting {
    name: "padding",
    expects: "one number, `[vertical, horizontal]`, `[top, left, bottom, right]` or `same`",
    default: Some("0"),
};
const DILATION: Setting =
    Setting { name: "dilation", expects: "one number or `[vertical, horizontal]`", default: Some("1") };
const SCALES: &str = "there has to be one scale for all filters or one for each";

/// How windows lie, as every convolution reads it: stride, padding, dilation.
type Windows = ([usize; 2], [usize; 4], [usize; 2]);

fn windows(args: &Args<'_>) -> Result<Windows, RuleError> {
    let stride = args.pair("stride", 1, Some([1, 1]))?;
    let dilation = args.pair("dilation", 1, Some([1, 1]))?;
    four(args.inputs)?;
    let [(image, axes), (kernel, kernel_axes)] = [0, 1].map(|input| plane(&args.inputs[input].shape, true));
    let kernel = taps(kernel, kernel_axes)?;
    Ok((stride, padding(args, image, kernel, stride, dilation, axes)?, dilation))
}

/// Images and filters have four dimensions.
fn four(inputs: &[Type]) -> Result<(), RuleError> {
    match [0, 1].into_iter().find(|input| inputs[*input].shape.rank() != 4) {
        None => Ok(()),
        Some(input) => Err(RuleError::Rank { input, expected: "4 dimensions" }),
    }
}

/// The result's shape, whose last extent is given.
fn result(inputs: &[Type], (stride, padding, dilation): Windows, channels: Dim) -> Result<Shape, RuleError> {
    let (image, axes) = plane(&inputs[0].shape, true);
    let (kernel, kernel_axes) = plane(&inputs[1].shape, true);
    let kernel = taps(kernel, kernel_axes)?;
    let x = inputs[0].shape.dims();
    let mut output = [Dim::default(); 2];
    for side in 0..2 {
        if kernel[side] == 0 {
            return Err(RuleError::Extent {
                at: (1, kernel_axes[side]),
                expected: 1,
                at_least: true,
                rule: "a filter has to have at least one tap",
            });
        }
        let padded = [padding[side], padding[side + 2]];
        let size = extent(image[side], kernel[side], stride[side], padded, dilation[side], false).ok_or(
            RuleError::Extent {
                at: (0, axes[side]),
                expected: least(kernel[side], padded, dilation[side]),
                at_least: true,
                rule: "the filter has to fit into the padded image at least once",
            },
        )?;
        output[side] = named(size, x[axes[side]]);
    }
    Shape::new(&[x[0], output[0], output[1], channels]).ok_or(RuleError::TooManyDims)
}

/// A bias has an element for each filter, which are axis `axis` of operand 1.
fn bias(inputs: &[Type], input: usize, axis: usize) -> Result<(), RuleError> {
    let Some(bias) = inputs.get(input) else { return Ok(()) };
    if bias.shape.rank() != 1 {
        return Err(RuleError::Rank { input, expected: "1 dimension, an element per filter" });
    }
    if bias.shape.dims()[0] != inputs[1].shape.dims()[axis] {
        return Err(RuleError::Mismatch {
            left: (1, axis),
            right: (input, 0),
            rule: "there has to be one element per filter",
        });
    }
    Ok(())
}

/// Element types, scales and bias of a product of `i8` whose filters are axis `axis` of operand 1.
fn product(inputs: &[Type], axis: usize) -> Result<(), RuleError> {
    dtypes(inputs, &[DType::I8, DType::I8, DType::F32, DType::F32, DType::F32, DType::I32])?;
    single(inputs, 2)?;
    single_or_along(inputs, 3, (1, axis), SCALES)?;
    single(inputs, 4)?;
    bias(inputs, 5, axis)
}

/// Images and filters have equally many channels.
fn same_channels(inputs: &[Type]) -> Result<(), RuleError> {
    if inputs[0].shape.dims()[3] == inputs[1].shape.dims()[3] {
        return Ok(());
    }
    Err(RuleError::Mismatch {
        left: (0, 3),
        right: (1, 3),
        rule: "the filters have to have as many channels as the images",
    })
}

macro_rules! conv {
    ($( $name:ident, $text:literal, $doc:literal, |$inputs:ident, $windows:ident| $infer:block; )*) => { $(
        impl Described for $name {
            const SPEC: Spec = Spec {
                name: $text,
                doc: $doc,
                operands: &["x", "w", "x_scale", "w_scale", "y_scale", "bias"],
                optional: 1,
                variadic: false,
                settings: &[STRIDE, PADDING, DILATION, zero!("x_zero"), zero!("y_zero"), LOW, HIGH],
            };

            fn build(args: &Args<'_>) -> Result<$name, RuleError> {
                let (stride, padding, dilation) = windows(args)?;
                let [low, high] = args.range()?;
                let (x_zero, y_zero) = (args.small("x_zero", 0)?, args.small("y_zero", 0)?);
                Ok($name { stride, padding, dilation, x_zero, y_zero, low, high })
            }
        }

        impl Operator for $name {
            fn infer(&self, $inputs: &[Type]) -> Result<Type, RuleError> {
                let $windows = (self.stride, self.padding, self.dilation);
                let shape = $infer?;
                Ok(Type { dtype: DType::I8, shape })
            }
        }
    )* };
}

conv! {
    QConv2d, "q_conv2d",
        "convolution of i8 images N H W C with filters O KH KW C, optional i32 bias, as TensorFlow Lite's reference \
         computes it",
        |inputs, windows| {
            four(inputs)?;
            product(inputs, 0)?;
            same_channels(inputs)?;
            result(inputs, windows, inputs[1].shape.dims()[0])
        };
    QDepthwiseConv2d, "q_depthwise_conv2d",
        "convolution of i8 images N H W C with M filters for each channel, 1 KH KW C*M, optional i32 bias, as TensorFlow \
         Lite's reference computes it",
        |inputs, windows| {
            four(inputs)?;
            product(inputs, 3)?;
            let (x, w) = (inputs[0].shape.dims(), inputs[1].shape.dims());
            if w[0].size != 1 {
                return Err(RuleError::Extent {
                    at: (1, 0),
                    expected: 1,
                    at_least: false,
                    rule: "depthwise filters are `1 KH KW C*M`",
                });
            }
            let whole = match x[3].fixed() {
                Some(0) => w[3] == Dim::new(0),
                Some(channels) => w[3].over_exactly(channels).is_some(),
                None => w[3] == x[3],
            };
            if !whole {
                return Err(RuleError::Mismatch {
                    left: (0, 3),
                    right: (1, 3),
                    rule: "there has to be a whole number of filters for each channel of the images",
                });
            }
            result(inputs, windows, w[3])
        };
}

impl Described for HybridConv2d {
    const SPEC: Spec = Spec {
        name: "hybrid_conv2d",
        doc: "convolution of f32 images N H W C, quantised as they come, with i8 filters O KH KW C, optional f32 bias, as \
              TensorFlow Lite's hybrid kernel",
        operands: &["x", "w", "w_scale", "bias"],
        optional: 1,
        variadic: false,
        settings: &[STRIDE, PADDING, DILATION],
    };

    fn build(args: &Args<'_>) -> Result<HybridConv2d, RuleError> {
        let (stride, padding, dilation) = windows(args)?;
        Ok(HybridConv2d { stride, padding, dilation })
    }
}

impl Operator for HybridConv2d {
    fn infer(&self, inputs: &[Type]) -> Result<Type, RuleError> {
        four(inputs)?;
        dtypes(inputs, &[DType::F32, DType::I8, DType::F32, DType::F32])?;
        single_or_along(inputs, 2, (1, 0), SCALES)?;
        bias(inputs, 3, 0)?;
        same_channels(inputs)?;
        let windows = (self.stride, self.padding, self.dilation);
        Ok(Type::f32(result(inputs, windows, inputs[1].shape.dims()[0])?))
    }

    /// One image as `i8`.
    fn scratch(&self, inputs: &[Type], _: &Type) -> usize {
        inputs[0].shape.dims().iter().skip(1).fold(1, |bytes, dim| bytes.saturating_mul(dim.size))
    }
}

impl Described for QLinear {
    const SPEC: Spec = Spec {
        name: "q_linear",
        doc: "x w^T of i8 rows with a matrix N K, optional i32 bias, as TensorFlow Lite computes a fully connected \
              layer",
        operands: &["x", "w", "x_scale", "w_scale", "y_scale", "bias"],
        optional: 1,
        variadic: false,
        settings: &[zero!("x_zero"), zero!("y_zero"), LOW, HIGH],
    };

    fn build(args: &Args<'_>) -> Result<QLinear, RuleError> {
        let [low, high] = args.range()?;
        Ok(QLinear { x_zero: args.small("x_zero", 0)?, y_zero: args.small("y_zero", 0)?, low, high })
    }
}

impl Operator for QLinear {
    fn infer(&self, inputs: &[Type]) -> Result<Type, RuleError> {
        let (rank, w) = (inputs[0].shape.rank(), &inputs[1].shape);
        if rank == 0 {
            return Err(RuleError::Rank { input: 0, expected: "at least 1 dimension" });
        }
        if w.rank() != 2 {
            return Err(RuleError::Rank { input: 1, expected: "2 dimensions, a row per element of the result" });
        }
        product(inputs, 0)?;
        if inputs[0].shape.dims()[rank - 1] != w.dims()[1] {
            return Err(RuleError::Mismatch {
                left: (0, rank - 1),
                right: (1, 1),
                rule: "the rows of both have to be equally long",
            });
        }
        let mut shape = inputs[0].shape;
        shape.dims_mut()[rank - 1] = w.dims()[0];
        Ok(Type { dtype: DType::I8, shape })
    }
}
