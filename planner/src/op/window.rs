//! Windows that move over an image: where they fit, how many there are, and how much padding lies around it. Pooling and
//! convolution share this; it knows neither of them.

use super::{Args, Expected, Field, Fields, RuleError, Value};
use crate::{Dim, Shape};

/// Height and width of a 4-dimensional tensor, and their axes.
pub(super) fn plane(shape: &Shape, channels_last: bool) -> ([Dim; 2], [usize; 2]) {
    let axes = if channels_last { [1, 2] } else { [2, 3] };
    (axes.map(|axis| shape.dims()[axis]), axes)
}

/// How many windows fit along one side, or `None` when none does for some value of the open dims. With `ceil`, a last
/// window may hang over the far edge as long as it starts inside the image or its near padding (the rule of PyTorch and
/// ONNX).
pub(super) fn extent(
    input: Dim,
    kernel: usize,
    stride: usize,
    padding: [usize; 2],
    dilation: usize,
    ceil: bool,
) -> Option<Dim> {
    let reach = kernel.checked_sub(1)?.checked_mul(dilation)?.checked_add(1)?;
    let room = input.plus(padding[0])?.plus(padding[1])?.minus(reach)?;
    if stride == 0 {
        return None;
    }
    if !ceil {
        return room.over(stride)?.plus(1);
    }
    let Some(fixed) = room.fixed() else {
        // No window starts beyond the image where they move by one, nor where the far padding and a move together fit
        // into a window; else it depends on the extent whether one does.
        let always = stride == 1 || padding[1].checked_add(stride)? <= reach;
        return if always { room.plus(stride - 1)?.over(stride)?.plus(1) } else { None };
    };
    // Windows before the last.
    let before = Dim::new(fixed.div_ceil(stride));
    if before.size.checked_mul(stride)? >= input.size + padding[0] { Some(before) } else { before.plus(1) }
}

/// The extents of the filters, which have to be fixed.
pub(super) fn taps(kernel: [Dim; 2], axes: [usize; 2]) -> Result<[usize; 2], RuleError> {
    match kernel.map(|dim| dim.fixed()) {
        [Some(height), Some(width)] => Ok([height, width]),
        [height, _] => {
            let axis = if height.is_none() { axes[0] } else { axes[1] };
            Err(RuleError::OpenExtent { at: (1, axis), rule: "a filter's taps are part of the operator" })
        }
    }
}

/// The padding at top, left, bottom, right. `same` gives `ceil(extent / stride)` windows, the odd one at the far side.
pub(super) fn padding(
    args: &Args<'_>,
    input: [Dim; 2],
    kernel: [usize; 2],
    stride: [usize; 2],
    dilation: [usize; 2],
    axes: [usize; 2],
) -> Result<[usize; 4], RuleError> {
    const EXPECTED: &str = "one number, `[vertical, horizontal]`, `[top, left, bottom, right]` or `same`";
    let wrong = RuleError::Setting { name: "padding", expected: Expected::Words(EXPECTED) };
    let size = |value: &Value<'_>| match *value {
        Value::Int(size, _) => usize::try_from(size).map_err(|_| wrong),
        _ => Err(wrong),
    };
    match args.fixed("padding")? {
        None => Ok([0; 4]),
        Some(Value::Word("same")) => {
            let mut padding = [0; 4];
            for side in 0..2 {
                let reach = kernel[side].saturating_sub(1).saturating_mul(dilation[side]).saturating_add(1);
                let total = same(input[side], reach, stride[side], axes[side])?;
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

/// How much padding gives `ceil(extent / stride)` windows of that reach.
pub(super) fn same(extent: Dim, reach: usize, stride: usize, axis: usize) -> Result<usize, RuleError> {
    const SAME: &str = "how much padding `same` is depends on it where windows move by more than one";
    match extent.fixed() {
        Some(extent) => {
            let windows = extent.div_ceil(stride);
            let needed = (windows.saturating_sub(1) * stride).saturating_add(reach);
            Ok(needed.saturating_sub(extent))
        }
        // As many windows as elements, whatever the extent.
        None if stride == 1 => Ok(reach - 1),
        None => Err(RuleError::OpenExtent { at: (0, axis), rule: SAME }),
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

/// An extent that keeps the name of the one it came from while it is the same.
pub(super) fn named(dim: Dim, source: Dim) -> Dim {
    if dim == source { source } else { dim.named(0) }
}

/// The fields as settings, the place of the channels as a layout.
pub(super) fn spell_layout(op: &dyn Fields, visit: &mut dyn FnMut(&'static str, Value<'_>)) {
    op.fields(&mut |name, field| match (name, field) {
        ("channels_last", Field::Bool(last)) => visit("layout", Value::Word(if last { "nhwc" } else { "nchw" })),
        _ => field.spell(&mut |value| visit(name, value)),
    });
}
