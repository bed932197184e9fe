//! Windows that move over an image: where they fit, how many there are, and how much padding lies around it. Pooling and
//! convolution share this; it knows neither of them.

use super::{Args, Expected, Field, Fields, RuleError, Value};
use crate::{Dim, Shape};

/// Height and width of a 4-dimensional tensor, and their axes.
pub(super) fn plane(shape: &Shape, channels_last: bool) -> ([usize; 2], [usize; 2]) {
    let axes = if channels_last { [1, 2] } else { [2, 3] };
    (axes.map(|axis| shape.dims()[axis].size), axes)
}

/// How many windows fit along one side, or `None` when none does. With `ceil`, a last window may hang over the far
/// edge as long as it starts inside the image or its near padding (the rule of PyTorch and ONNX).
pub(super) fn extent(
    input: usize,
    kernel: usize,
    stride: usize,
    padding: [usize; 2],
    dilation: usize,
    ceil: bool,
) -> Option<usize> {
    let padded = input.checked_add(padding[0])?.checked_add(padding[1])?;
    let reach = kernel.checked_sub(1)?.checked_mul(dilation)?.checked_add(1)?;
    let room = padded.checked_sub(reach)?;
    if stride == 0 {
        return None;
    }
    if !ceil {
        return (room / stride).checked_add(1);
    }
    // Windows before the last.
    let before = room.div_ceil(stride);
    if before.checked_mul(stride)? >= input + padding[0] { Some(before) } else { before.checked_add(1) }
}

/// The padding at top, left, bottom, right. `same` gives `ceil(extent / stride)` windows, the odd one at the far side.
pub(super) fn padding(
    args: &Args<'_>,
    input: [usize; 2],
    kernel: [usize; 2],
    stride: [usize; 2],
    dilation: [usize; 2],
) -> Result<[usize; 4], RuleError> {
    const EXPECTED: &str = "one number, `[vertical, horizontal]`, `[top, left, bottom, right]` or `same`";
    let wrong = RuleError::Setting { name: "padding", expected: Expected::Words(EXPECTED) };
    let size = |value: &Value<'_>| match *value {
        Value::Int(size, _) => usize::try_from(size).map_err(|_| wrong),
        _ => Err(wrong),
    };
    match args.get("padding") {
        None => Ok([0; 4]),
        Some(Value::Word("same")) => {
            let mut padding = [0; 4];
            for side in 0..2 {
                let reach = kernel[side].saturating_sub(1).saturating_mul(dilation[side]).saturating_add(1);
                let windows = input[side].div_ceil(stride[side]);
                let needed = (windows.saturating_sub(1) * stride[side]).saturating_add(reach);
                let total = needed.saturating_sub(input[side]);
                padding[side] = total / 2;
                padding[side + 2] = total - total / 2;
            }
            Ok(padding)
        }
        Some(Value::List([y, x])) => Ok([size(y)?, size(x)?, size(y)?, size(x)?]),
        Some(Value::List([top, left, bottom, right])) => Ok([size(top)?, size(left)?, size(bottom)?, size(right)?]),
        Some(value) => Ok([size(&value)?; 4]),
    }
}

/// The least extent of an image, before padding, that one window fits into.
pub(super) fn least(kernel: usize, padding: [usize; 2], dilation: usize) -> usize {
    kernel
        .saturating_sub(1)
        .saturating_mul(dilation)
        .saturating_add(1)
        .saturating_sub(padding[0].saturating_add(padding[1]))
}

/// An extent that keeps the name of the one it came from while it has the same size.
pub(super) fn named(size: usize, source: Dim) -> Dim {
    if size == source.size { source } else { Dim::new(size) }
}

/// The fields as settings, the place of the channels as a layout.
pub(super) fn spell_layout(op: &dyn Fields, visit: &mut dyn FnMut(&'static str, Value<'_>)) {
    op.fields(&mut |name, field| match (name, field) {
        ("channels_last", Field::Bool(last)) => visit("layout", Value::Word(if last { "nhwc" } else { "nchw" })),
        _ => field.spell(&mut |value| visit(name, value)),
    });
}
