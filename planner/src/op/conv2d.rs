//! Two-dimensional convolution.

use super::rule::Kind;
use super::window::{extent, least, named, padding, plane, spell_layout, taps};
use super::{Args, Described, Operator, RuleError, Setting, Spec, Value, operator};
use crate::{Dim, Shape, Type, View};

operator! {
    /// Cross-correlation of images with filters, as every framework's `conv2d`. Operands: x (`N C H W`, or `N H W C`
    /// when `channels_last`), w (`O C/groups KH KW`, or `O KH KW C/groups`), optional bias (`O`).
    Conv2d = "conv2d" {
        /// Distance between applications, vertical and horizontal.
        stride: [usize; 2],
        /// Rows and columns of zeros at top, left, bottom, right. Zero times an infinite weight may be NaN.
        padding: [usize; 4],
        /// Distance between a filter's taps, vertical and horizontal.
        dilation: [usize; 2],
        /// Independent groups of channels.
        groups: usize,
        /// Channels are the last dimension instead of the second.
        channels_last: bool,
    }
}

impl Described for Conv2d {
    const SPEC: Spec = Spec {
        name: "conv2d",
        doc: "convolution of N C H W with O C/groups KH KW (layout = nhwc: N H W C with O KH KW C/groups), optional bias",
        operands: &["x", "w", "bias"],
        optional: 1,
        variadic: false,
        settings: &[
            Setting { name: "stride", expects: "one number or `[vertical, horizontal]`", default: Some("1") },
            Setting {
                name: "padding",
                expects: "one number, `[vertical, horizontal]`, `[top, left, bottom, right]` or `same`",
                default: Some("0"),
            },
            Setting { name: "dilation", expects: "one number or `[vertical, horizontal]`", default: Some("1") },
            Setting { name: "groups", expects: "a whole number above 0", default: Some("1") },
            Setting { name: "layout", expects: "`nchw` or `nhwc`", default: Some("nchw") },
        ],
    };

    fn build(args: &Args<'_>) -> Result<Conv2d, RuleError> {
        let channels_last = args.word("layout", &["nchw", "nhwc"], "`nchw` or `nhwc`")? == 1;
        let stride = args.pair("stride", 1, Some([1, 1]))?;
        let dilation = args.pair("dilation", 1, Some([1, 1]))?;
        four(args.inputs, 0)?;
        four(args.inputs, 1)?;
        let (input, axes) = plane(&args.inputs[0].shape, channels_last);
        let (kernel, kernel_axes) = plane(&args.inputs[1].shape, channels_last);
        let kernel = taps(kernel, kernel_axes)?;
        let padding = padding(args, input, kernel, stride, dilation, axes)?;
        Ok(Conv2d { stride, padding, dilation, groups: args.size("groups", 1, Some(1))?, channels_last })
    }
}

fn four(inputs: &[Type], input: usize) -> Result<(), RuleError> {
    if inputs[input].shape.rank() == 4 { Ok(()) } else { Err(RuleError::Rank { input, expected: "4 dimensions" }) }
}

impl Operator for Conv2d {
    fn settings(&self, _: &[Type], visit: &mut dyn FnMut(&'static str, Value<'_>)) {
        spell_layout(self, visit);
    }

    fn takes_stages(&self) -> bool {
        true
    }

    /// `N C H W` is written row by row, wherever the rows lie.
    fn writes(&self, output: &View) -> bool {
        output.is_packed() || !self.channels_last && (output.dims[3] < 2 || output.strides[3] == 1)
    }

    fn through_f32(&self) -> bool {
        true
    }

    fn infer(&self, inputs: &[Type]) -> Result<Type, RuleError> {
        let dtype = Kind::Floats.of_all(inputs)?;
        four(inputs, 0)?;
        four(inputs, 1)?;
        let (x, w) = (inputs[0].shape.dims(), inputs[1].shape.dims());
        let channel = if self.channels_last { 3 } else { 1 };
        if self.groups > 1 && x[channel].is_open() {
            return Err(RuleError::OpenExtent { at: (0, channel), rule: "groups divide the channels" });
        }
        if self.groups == 0 || !x[channel].size.is_multiple_of(self.groups) || !w[0].size.is_multiple_of(self.groups) {
            return Err(super::rule::bad("groups", "a divisor of the input channels and of the filters"));
        }
        if x[channel].over(self.groups) != Some(w[channel].named(0)) {
            return Err(if self.groups == 1 {
                RuleError::Mismatch {
                    left: (0, channel),
                    right: (1, channel),
                    rule: "the filters have to have as many channels as the images",
                }
            } else {
                RuleError::Extent {
                    at: (1, channel),
                    expected: x[channel].size / self.groups,
                    at_least: false,
                    rule: "a filter sees the images' channels divided by `groups`",
                }
            });
        }
        if let Some(bias) = inputs.get(2) {
            if bias.shape.rank() != 1 {
                return Err(RuleError::Rank { input: 2, expected: "1 dimension, an element per filter" });
            }
            if bias.shape.dims()[0] != w[0] {
                return Err(RuleError::Mismatch {
                    left: (1, 0),
                    right: (2, 0),
                    rule: "there has to be one element per filter",
                });
            }
        }
        let (input, axes) = plane(&inputs[0].shape, self.channels_last);
        let (kernel, kernel_axes) = plane(&inputs[1].shape, self.channels_last);
        let kernel = taps(kernel, kernel_axes)?;
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
            let padded = [self.padding[side], self.padding[side + 2]];
            let size = extent(input[side], kernel[side], self.stride[side], padded, self.dilation[side], false).ok_or(
                RuleError::Extent {
                    at: (0, axes[side]),
                    expected: least(kernel[side], padded, self.dilation[side]),
                    at_least: true,
                    rule: "the filter has to fit into the padded image at least once",
                },
            )?;
            output[side] = named(size, x[axes[side]]);
        }
        let dims =
            if self.channels_last { [x[0], output[0], output[1], w[0]] } else { [x[0], w[0], output[0], output[1]] };
        Ok(Type { dtype, shape: Shape::new(&dims).ok_or(RuleError::TooManyDims)? })
    }
}
