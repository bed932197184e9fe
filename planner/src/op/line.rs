//! Convolution and pooling of sequences: each is its two-dimensional counterpart on images of height 1, and asks that
//! one's rules.

use super::rule::bad;
use super::{
    Args, AvgPool2d, Conv2d, Described, Field, Fields, MaxPool2d, Operator, RuleError, Setting, Spec, Value, operator,
};
use crate::{Dim, Shape, Type, View};

operator! {
    /// Cross-correlation of sequences with filters. Operands: x (`N C L`, or `N L C` when `channels_last`), w
    /// (`O C/groups K`, or `O K C/groups`), optional bias (`O`).
    Conv1d = "conv1d" {
        /// Distance between applications.
        stride: usize,
        /// Zeros at the left and the right.
        padding: [usize; 2],
        /// Distance between a filter's taps.
        dilation: usize,
        /// Independent groups of channels.
        groups: usize,
        /// Channels are the last dimension instead of the second.
        channels_last: bool,
    }
    /// The largest element of each window of a sequence; padding never wins.
    MaxPool1d = "max_pool1d" {
        /// The window's extent.
        kernel: usize,
        /// Distance between windows.
        stride: usize,
        /// Elements added at the left and the right.
        padding: [usize; 2],
        /// Distance between a window's taps.
        dilation: usize,
        /// A last window may hang over the far edge.
        ceil: bool,
        /// Channels are the last dimension instead of the second.
        channels_last: bool,
    }
    /// The mean of each window of a sequence.
    AvgPool1d = "avg_pool1d" {
        /// The window's extent.
        kernel: usize,
        /// Distance between windows.
        stride: usize,
        /// Elements added at the left and the right.
        padding: [usize; 2],
        /// Distance between a window's taps.
        dilation: usize,
        /// A last window may hang over the far edge.
        ceil: bool,
        /// Padding counts as zeros; otherwise the mean is of the elements inside the sequence.
        count_padding: bool,
        /// Channels are the last dimension instead of the second.
        channels_last: bool,
    }
}

const STRIDE: &str = "a whole number above 0";
const PADDING: Setting =
    Setting { name: "padding", expects: "one number, `[left, right]` or `same`", default: Some("0") };
const LAYOUT: Setting = Setting { name: "layout", expects: "`ncl` or `nlc`", default: Some("ncl") };

fn channels_last(args: &Args<'_>) -> Result<bool, RuleError> {
    Ok(args.word("layout", &["ncl", "nlc"], "`ncl` or `nlc`")? == 1)
}

/// Where the height stands that a sequence is given.
const fn height(channels_last: bool) -> usize {
    if channels_last { 1 } else { 2 }
}

/// The shape with a height of 1; as it is where it has not three dimensions.
fn lifted(ty: &Type, channels_last: bool) -> Type {
    let dims = ty.shape.dims();
    let [a, b, c] = dims[..] else { return *ty };
    let one = Dim::new(1);
    let dims = if channels_last { [a, one, b, c] } else { [a, b, one, c] };
    Type { dtype: ty.dtype, shape: Shape::new(&dims).unwrap_or(ty.shape) }
}

/// The view with a height of 1.
pub fn lifted_view(view: &View, channels_last: bool) -> View {
    let at = height(channels_last);
    let mut view = *view;
    view.dims.copy_within(at..3, at + 1);
    view.strides.copy_within(at..3, at + 1);
    (view.dims[at], view.strides[at], view.rank) = (1, 0, 4);
    view
}

/// What `infer` says of the operands as images, in terms of sequences.
fn as_images(
    inputs: &[Type],
    operands: usize,
    channels_last: bool,
    infer: impl FnOnce(&[Type]) -> Result<Type, RuleError>,
) -> Result<Type, RuleError> {
    let mut images = [Type::f32(Shape::SCALAR); 3];
    for (input, (image, ty)) in images.iter_mut().zip(inputs).enumerate() {
        *image = if input < operands { lifted(ty, channels_last) } else { *ty };
        if input < operands && ty.shape.rank() != 3 {
            return Err(RuleError::Rank { input, expected: "3 dimensions" });
        }
    }
    let at = height(channels_last);
    let axis = |(input, axis): (usize, usize)| (input, if input < operands && axis > at { axis - 1 } else { axis });
    match infer(&images[..inputs.len().min(3)]) {
        Ok(image) => {
            let mut shape = Shape::SCALAR;
            for dim in image.shape.dims().iter().enumerate().filter(|(axis, _)| *axis != at).map(|(_, dim)| *dim) {
                shape = shape.with(dim).ok_or(RuleError::TooManyDims)?;
            }
            Ok(Type { dtype: image.dtype, shape })
        }
        Err(RuleError::Mismatch { left, right, rule }) => {
            Err(RuleError::Mismatch { left: axis(left), right: axis(right), rule })
        }
        Err(RuleError::Extent { at, expected, at_least, rule }) => {
            Err(RuleError::Extent { at: axis(at), expected, at_least, rule })
        }
        Err(RuleError::OpenExtent { at, rule }) => Err(RuleError::OpenExtent { at: axis(at), rule }),
        Err(error) => Err(error),
    }
}

/// The padding at both ends. `same` gives `ceil(extent / stride)` windows, the odd one at the far end.
fn padding(
    args: &Args<'_>,
    extent: Dim,
    kernel: usize,
    stride: usize,
    dilation: usize,
    axis: usize,
) -> Result<[usize; 2], RuleError> {
    let wrong = bad("padding", "one number, `[left, right]` or `same`");
    let size = |value: &Value<'_>| match *value {
        Value::Int(size, _) => usize::try_from(size).map_err(|_| wrong),
        _ => Err(wrong),
    };
    match args.fixed("padding")? {
        None => Ok([0; 2]),
        Some(Value::Word("same")) => {
            let reach = kernel.saturating_sub(1).saturating_mul(dilation).saturating_add(1);
            let total = super::window::same(extent, reach, stride, axis)?;
            Ok([total / 2, total - total / 2])
        }
        Some(Value::List([left, right])) => Ok([size(left)?, size(right)?]),
        Some(value) => Ok([size(&value)?; 2]),
    }
}

/// The extent along which windows move.
fn along(shape: &Shape, channels_last: bool) -> Dim {
    shape.dims().get(axis(channels_last)).copied().unwrap_or_default()
}

fn axis(channels_last: bool) -> usize {
    if channels_last { 1 } else { 2 }
}

impl Conv1d {
    /// The same on images of height 1.
    pub fn on_images(&self) -> Conv2d {
        let Conv1d { stride, padding: [left, right], dilation, groups, channels_last } = *self;
        Conv2d { stride: [1, stride], padding: [0, left, 0, right], dilation: [1, dilation], groups, channels_last }
    }
}

impl Described for Conv1d {
    const SPEC: Spec = Spec {
        name: "conv1d",
        doc: "convolution of N C L with O C/groups K (layout = nlc: N L C with O K C/groups), optional bias",
        operands: &["x", "w", "bias"],
        optional: 1,
        variadic: false,
        settings: &[
            Setting { name: "stride", expects: STRIDE, default: Some("1") },
            PADDING,
            Setting { name: "dilation", expects: STRIDE, default: Some("1") },
            Setting { name: "groups", expects: STRIDE, default: Some("1") },
            LAYOUT,
        ],
    };

    fn build(args: &Args<'_>) -> Result<Conv1d, RuleError> {
        let channels_last = channels_last(args)?;
        let stride = args.size("stride", 1, Some(1))?;
        let dilation = args.size("dilation", 1, Some(1))?;
        let [extent, kernel] = [0, 1].map(|input| along(&args.inputs[input].shape, channels_last));
        let axis = axis(channels_last);
        let Some(kernel) = kernel.fixed() else {
            return Err(RuleError::OpenExtent { at: (1, axis), rule: "a filter's taps are part of the operator" });
        };
        let padding = padding(args, extent, kernel, stride, dilation, axis)?;
        Ok(Conv1d { stride, padding, dilation, groups: args.size("groups", 1, Some(1))?, channels_last })
    }
}

impl Operator for Conv1d {
    fn through_f32(&self) -> bool {
        true
    }

    fn settings(&self, _: &[Type], visit: &mut dyn FnMut(&'static str, Value<'_>)) {
        spell(self, visit);
    }

    fn takes_stages(&self) -> bool {
        true
    }

    fn writes(&self, output: &View) -> bool {
        output.is_packed() || !self.channels_last && (output.dims[2] < 2 || output.strides[2] == 1)
    }

    fn infer(&self, inputs: &[Type]) -> Result<Type, RuleError> {
        as_images(inputs, 2, self.channels_last, |images| self.on_images().infer(images))
    }
}

/// The fields as settings, the place of the channels as a layout.
fn spell(op: &dyn Fields, visit: &mut dyn FnMut(&'static str, Value<'_>)) {
    op.fields(&mut |name, field| match (name, field) {
        ("channels_last", Field::Bool(last)) => visit("layout", Value::Word(if last { "nlc" } else { "ncl" })),
        _ => field.spell(&mut |value| visit(name, value)),
    });
}

macro_rules! pool {
    ($( $name:ident on $images:ident, $text:literal, $doc:literal, [$($more:expr),*],
        { $($field:ident: |$args:ident| $value:expr)? }; )*) => { $(
        impl $name {
            /// The same on images of height 1.
            pub fn on_images(&self) -> $images {
                $images {
                    kernel: [1, self.kernel],
                    stride: [1, self.stride],
                    padding: [0, self.padding[0], 0, self.padding[1]],
                    dilation: [1, self.dilation],
                    ceil: self.ceil,
                    $( $field: self.$field, )?
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
                    Setting { name: "kernel", expects: STRIDE, default: None },
                    Setting { name: "stride", expects: STRIDE, default: Some("the kernel") },
                    PADDING,
                    Setting { name: "dilation", expects: STRIDE, default: Some("1") },
                    Setting { name: "ceil", expects: "`true` or `false`", default: Some("false") },
                    LAYOUT,
                    $($more),*
                ],
            };

            fn build(args: &Args<'_>) -> Result<$name, RuleError> {
                let channels_last = channels_last(args)?;
                let kernel = args.size("kernel", 1, None)?;
                let stride = args.size("stride", 1, Some(kernel))?;
                let dilation = args.size("dilation", 1, Some(1))?;
                let (along, axis) = (along(&args.inputs[0].shape, channels_last), axis(channels_last));
                let padding = padding(args, along, kernel, stride, dilation, axis)?;
                let reach = (kernel - 1).saturating_mul(dilation).saturating_add(1);
                if padding.iter().any(|padding| *padding >= reach) {
                    return Err(bad("padding", "less than the window, so that no window lies in padding alone"));
                }
                let ceil = args.bool("ceil", false)?;
                $( let $args = args; )?
                Ok($name { kernel, stride, padding, dilation, ceil, $( $field: $value, )? channels_last })
            }
        }

        impl Operator for $name {
            fn through_f32(&self) -> bool {
                true
            }

            fn settings(&self, _: &[Type], visit: &mut dyn FnMut(&'static str, Value<'_>)) {
                spell(self, visit);
            }

            fn infer(&self, inputs: &[Type]) -> Result<Type, RuleError> {
                as_images(inputs, 1, self.channels_last, |images| self.on_images().infer(images))
            }
        }
    )* };
}

pool! {
    MaxPool1d on MaxPool2d, "max_pool1d", "the largest element of each window of N C L", [], {};
    AvgPool1d on AvgPool2d, "avg_pool1d", "the mean of each window of N C L",
        [Setting { name: "count_padding", expects: "`true` or `false`", default: Some("true") }],
        { count_padding: |args| args.bool("count_padding", true)? };
}
