//! Pooling of quantised images. Scale and zero of the result are those of the images, so that neither is asked for.

use super::quant::{HIGH, LOW, dtypes};
use super::rule::bad;
use super::window::{extent, least, named, padding, plane};
use super::{Args, Described, Operator, RuleError, Setting, Spec, operator};
use crate::{DType, Type};

operator! {
    /// The mean of each window of `i8` images `N H W C`, rounded to the nearest integer, halves away from zero. Padding
    /// does not count.
    QAvgPool2d = "q_avg_pool2d" {
        /// The window's extents.
        kernel: [usize; 2],
        /// Distance between windows.
        stride: [usize; 2],
        /// Rows and columns added at top, left, bottom, right.
        padding: [usize; 4],
        /// The least integer of the result.
        low: i32,
        /// The largest integer of the result.
        high: i32,
    }
    /// The largest element of each window of `i8` images `N H W C`; padding never wins.
    QMaxPool2d = "q_max_pool2d" {
        /// The window's extents.
        kernel: [usize; 2],
        /// Distance between windows.
        stride: [usize; 2],
        /// Rows and columns added at top, left, bottom, right.
        padding: [usize; 4],
        /// The least integer of the result.
        low: i32,
        /// The largest integer of the result.
        high: i32,
    }
}

macro_rules! pool {
    ($( $name:ident, $text:literal, $doc:literal; )*) => { $(
        impl Described for $name {
            const SPEC: Spec = Spec {
                name: $text,
                doc: $doc,
                operands: &["x"],
                optional: 0,
                variadic: false,
                settings: &[
                    Setting { name: "kernel", expects: "one number or `[vertical, horizontal]`", default: None },
                    Setting {
                        name: "stride",
                        expects: "one number or `[vertical, horizontal]`",
                        default: Some("the kernel"),
                    },
                    Setting {
                        name: "padding",
                        expects: "one number, `[vertical, horizontal]`, `[top, left, bottom, right]` or `same`",
                        default: Some("0"),
                    },
                    LOW,
                    HIGH,
                ],
            };

            fn build(args: &Args<'_>) -> Result<$name, RuleError> {
                let shape = &args.inputs[0].shape;
                if shape.rank() != 4 {
                    return Err(RuleError::Rank { input: 0, expected: "4 dimensions" });
                }
                let kernel = args.pair("kernel", 1, None)?;
                let stride = args.pair("stride", 1, Some(kernel))?;
                let (image, axes) = plane(shape, true);
                let padding = padding(args, image, kernel, stride, [1, 1], axes)?;
                if (0..4).any(|edge| padding[edge] >= kernel[edge % 2]) {
                    return Err(bad("padding", "less than the window, so that no window lies in padding alone"));
                }
                let [low, high] = args.range()?;
                Ok($name { kernel, stride, padding, low, high })
            }
        }

        impl Operator for $name {
            fn infer(&self, inputs: &[Type]) -> Result<Type, RuleError> {
                dtypes(inputs, &[DType::I8])?;
                let mut shape = inputs[0].shape;
                if shape.rank() != 4 {
                    return Err(RuleError::Rank { input: 0, expected: "4 dimensions" });
                }
                let (image, axes) = plane(&shape, true);
                for side in 0..2 {
                    let padded = [self.padding[side], self.padding[side + 2]];
                    let size = extent(image[side], self.kernel[side], self.stride[side], padded, 1, false).ok_or(
                        RuleError::Extent {
                            at: (0, axes[side]),
                            expected: least(self.kernel[side], padded, 1),
                            at_least: true,
                            rule: "the window has to fit into the padded image at least once",
                        },
                    )?;
                    let dim = &mut shape.dims_mut()[axes[side]];
                    *dim = named(size, *dim);
                }
                Ok(Type { dtype: DType::I8, shape })
            }
        }
    )* };
}

pool! {
    QAvgPool2d, "q_avg_pool2d",
        "the mean of each window of i8 images N H W C, rounded; padding does not count (TensorFlow Lite)";
    QMaxPool2d, "q_max_pool2d", "the largest element of each window of i8 images N H W C";
}
