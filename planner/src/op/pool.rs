//! Pooling over windows of an image.

use super::rule::{Kind, bad};
use super::window::{extent, least, named, padding, plane, spell_layout};
use super::{Args, Described, Operator, RuleError, Setting, Spec, Value, operator};
use crate::{Dim, Type};

operator! {
    /// The largest element of each window; padding never wins.
    MaxPool2d = "max_pool2d" {
        /// The window's extents.
        kernel: [usize; 2],
        /// Distance between windows.
        stride: [usize; 2],
        /// Rows and columns added at top, left, bottom, right.
        padding: [usize; 4],
        /// Distance between a window's taps.
        dilation: [usize; 2],
        /// A last window may hang over the far edge.
        ceil: bool,
        /// Channels are the last dimension instead of the second.
        channels_last: bool,
    }
    /// The mean of each window.
    AvgPool2d = "avg_pool2d" {
        /// The window's extents.
        kernel: [usize; 2],
        /// Distance between windows.
        stride: [usize; 2],
        /// Rows and columns added at top, left, bottom, right.
        padding: [usize; 4],
        /// Distance between a window's taps.
        dilation: [usize; 2],
        /// A last window may hang over the far edge.
        ceil: bool,
        /// Padding counts as zeros; otherwise the mean is of the elements inside the image.
        count_padding: bool,
        /// Channels are the last dimension instead of the second.
        channels_last: bool,
    }
    /// The mean of each channel's whole plane, which becomes `1 x 1`.
    GlobalAvgPool = "global_avg_pool" {
        /// Channels are the last dimension instead of the second.
        channels_last: bool,
    }
}

/// The windows of a pooling operator.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Window {
    /// The window's extents.
    pub kernel: [usize; 2],
    /// Distance between windows.
    pub stride: [usize; 2],
    /// Rows and columns added at top, left, bottom, right.
    pub padding: [usize; 4],
    /// Distance between a window's taps.
    pub dilation: [usize; 2],
    /// A last window may hang over the far edge.
    pub ceil: bool,
    /// Channels are the last dimension instead of the second.
    pub channels_last: bool,
}

impl Window {
    fn build(args: &Args<'_>) -> Result<Window, RuleError> {
        let shape = &args.inputs[0].shape;
        if shape.rank() != 4 {
            return Err(RuleError::Rank { input: 0, expected: "4 dimensions" });
        }
        let channels_last = args.word("layout", &["nchw", "nhwc"], "`nchw` or `nhwc`")? == 1;
        let kernel = args.pair("kernel", 1, None)?;
        let stride = args.pair("stride", 1, Some(kernel))?;
        let dilation = args.pair("dilation", 1, Some([1, 1]))?;
        let (input, axes) = plane(shape, channels_last);
        let padding = padding(args, input, kernel, stride, dilation, axes)?;
        for side in 0..2 {
            let reach = (kernel[side] - 1).saturating_mul(dilation[side]).saturating_add(1);
            if padding[side] >= reach || padding[side + 2] >= reach {
                return Err(bad("padding", "less than the window, so that no window lies in padding alone"));
            }
        }
        Ok(Window { kernel, stride, padding, dilation, ceil: args.bool("ceil", false)?, channels_last })
    }

    fn infer(&self, inputs: &[Type]) -> Result<Type, RuleError> {
        let dtype = Kind::Floats.of_all(inputs)?;
        let mut shape = inputs[0].shape;
        if shape.rank() != 4 {
            return Err(RuleError::Rank { input: 0, expected: "4 dimensions" });
        }
        let (input, axes) = plane(&shape, self.channels_last);
        for side in 0..2 {
            let padded = [self.padding[side], self.padding[side + 2]];
            let size =
                extent(input[side], self.kernel[side], self.stride[side], padded, self.dilation[side], self.ceil)
                    .ok_or(if self.ceil && input[side].is_open() {
                        RuleError::OpenExtent {
                            at: (0, axes[side]),
                            rule: "whether a last window fits with `ceil` depends on it",
                        }
                    } else {
                        RuleError::Extent {
                            at: (0, axes[side]),
                            expected: least(self.kernel[side], padded, self.dilation[side]),
                            at_least: true,
                            rule: "the window has to fit into the padded image at least once",
                        }
                    })?;
            let dim = &mut shape.dims_mut()[axes[side]];
            *dim = named(size, *dim);
        }
        Ok(Type { dtype, shape })
    }
}

macro_rules! pool {
    ($( $name:ident, $text:literal, $doc:literal, [$($more:expr),*], { $($field:ident: |$args:ident| $value:expr)? }; )*) => { $(
        impl $name {
            /// The windows.
            pub const fn window(&self) -> Window {
                Window {
                    kernel: self.kernel,
                    stride: self.stride,
                    padding: self.padding,
                    dilation: self.dilation,
                    ceil: self.ceil,
                    channels_last: self.channels_last,
                }
            }
        }

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
                    Setting { name: "dilation", expects: "one number or `[vertical, horizontal]`", default: Some("1") },
                    Setting { name: "ceil", expects: "`true` or `false`", default: Some("false") },
                    Setting { name: "layout", expects: "`nchw` or `nhwc`", default: Some("nchw") },
                    $($more),*
                ],
            };

            fn build(args: &Args<'_>) -> Result<$name, RuleError> {
                let Window { kernel, stride, padding, dilation, ceil, channels_last } = Window::build(args)?;
                $( let $args = args; )?
                Ok($name { kernel, stride, padding, dilation, ceil, $( $field: $value, )? channels_last })
            }
        }

        impl Operator for $name {
        fn settings(&self, _: &[Type], visit: &mut dyn FnMut(&'static str, Value<'_>)) {
            spell_layout(self, visit);
        }

            fn through_f32(&self) -> bool {
                true
            }

            fn infer(&self, inputs: &[Type]) -> Result<Type, RuleError> {
                self.window().infer(inputs)
            }
        }
    )* };
}

pool! {
    MaxPool2d, "max_pool2d", "the largest element of each window", [], {};
    AvgPool2d, "avg_pool2d", "the mean of each window",
        [Setting { name: "count_padding", expects: "`true` or `false`", default: Some("true") }],
        { count_padding: |args| args.bool("count_padding", true)? };
}

impl Described for GlobalAvgPool {
    const SPEC: Spec = Spec {
        name: "global_avg_pool",
        doc: "the mean of each channel's whole plane, which becomes 1 x 1",
        operands: &["x"],
        optional: 0,
        variadic: false,
        settings: &[Setting { name: "layout", expects: "`nchw` or `nhwc`", default: Some("nchw") }],
    };

    fn build(args: &Args<'_>) -> Result<GlobalAvgPool, RuleError> {
        Ok(GlobalAvgPool { channels_last: args.word("layout", &["nchw", "nhwc"], "`nchw` or `nhwc`")? == 1 })
    }
}

impl Operator for GlobalAvgPool {
    fn settings(&self, _: &[Type], visit: &mut dyn FnMut(&'static str, Value<'_>)) {
        spell_layout(self, visit);
    }

    fn through_f32(&self) -> bool {
        true
    }

    fn infer(&self, inputs: &[Type]) -> Result<Type, RuleError> {
        let dtype = Kind::Floats.of_all(inputs)?;
        let mut shape = inputs[0].shape;
        if shape.rank() != 4 {
            return Err(RuleError::Rank { input: 0, expected: "4 dimensions" });
        }
        let (_, axes) = plane(&shape, self.channels_last);
        for axis in axes {
            shape.dims_mut()[axis] = Dim::new(1);
        }
        Ok(Type { dtype, shape })
    }
}
