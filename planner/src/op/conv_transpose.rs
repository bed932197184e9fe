//! Transposed convolution: what a convolution's gradient does, which makes images larger.

use super::rule::{Kind, bad};
use super::{Args, Described, Operator, RuleError, Setting, Spec, Value, operator};
use crate::{Dim, Shape, Type};

operator! {
    /// Every element of an image is spread over the output as a multiple of the filters:
    /// `y[n, o, i s + u d - top, j s + v d - left] += x[n, c, i, j] w[c, o, u, v]` (PyTorch's `ConvTranspose2d`). Operands:
    /// x (`N C H W`), w (`C O/groups KH KW`), optional bias (`O`).
    ConvTranspose2d = "conv_transpose2d" {
        /// Distance between what neighbours are spread over, vertical and horizontal.
        stride: [usize; 2],
        /// Rows and columns cut off the output at top, left, bottom, right.
        padding: [usize; 4],
        /// Rows and columns added to the output at bottom and right.
        output_padding: [usize; 2],
        /// Distance between a filter's taps, vertical and horizontal.
        dilation: [usize; 2],
        /// Independent groups of channels.
        groups: usize,
    }
    /// The same of sequences. Operands: x (`N C L`), w (`C O/groups K`), optional bias (`O`).
    ConvTranspose1d = "conv_transpose1d" {
        /// Distance between what neighbours are spread over.
        stride: usize,
        /// Elements cut off the output at the left and the right.
        padding: [usize; 2],
        /// Elements added to the output at the right.
        output_padding: usize,
        /// Distance between a filter's taps.
        dilation: usize,
        /// Independent groups of channels.
        groups: usize,
    }
}

const PAIR: &str = "one number or `[vertical, horizontal]`";
const PADDING: &str = "one number, `[vertical, horizontal]` or `[top, left, bottom, right]`";
const ONE: &str = "a whole number above 0";

/// The elements listed for `padding`, or none.
fn padding<const N: usize>(args: &Args<'_>, expected: &'static str) -> Result<[usize; N], RuleError> {
    let wrong = bad("padding", expected);
    let size = |value: &Value<'_>| match *value {
        Value::Int(size, _) => usize::try_from(size).map_err(|_| wrong),
        _ => Err(wrong),
    };
    let mut padding = [0; N];
    match args.fixed("padding")? {
        None => {}
        Some(Value::List(list)) if list.len() == N || list.len() * 2 == N && N == 4 => {
            for (index, padding) in padding.iter_mut().enumerate() {
                *padding = size(&list[index % list.len()])?;
            }
        }
        Some(value) => padding = [size(&value)?; N],
    }
    Ok(padding)
}

impl Described for ConvTranspose2d {
    const SPEC: Spec = Spec {
        name: "conv_transpose2d",
        doc: "transposed convolution of N C H W with C O/groups KH KW, optional bias (PyTorch's ConvTranspose2d)",
        operands: &["x", "w", "bias"],
        optional: 1,
        variadic: false,
        settings: &[
            Setting { name: "stride", expects: PAIR, default: Some("1") },
            Setting { name: "padding", expects: PADDING, default: Some("0") },
            Setting { name: "output_padding", expects: PAIR, default: Some("0") },
            Setting { name: "dilation", expects: PAIR, default: Some("1") },
            Setting { name: "groups", expects: ONE, default: Some("1") },
        ],
    };

    fn build(args: &Args<'_>) -> Result<ConvTranspose2d, RuleError> {
        Ok(ConvTranspose2d {
            stride: args.pair("stride", 1, Some([1, 1]))?,
            padding: padding(args, PADDING)?,
            output_padding: args.pair("output_padding", 0, Some([0, 0]))?,
            dilation: args.pair("dilation", 1, Some([1, 1]))?,
            groups: args.size("groups", 1, Some(1))?,
        })
    }
}

impl Described for ConvTranspose1d {
    const SPEC: Spec = Spec {
        name: "conv_transpose1d",
        doc: "transposed convolution of N C L with C O/groups K, optional bias (PyTorch's ConvTranspose1d)",
        operands: &["x", "w", "bias"],
        optional: 1,
        variadic: false,
        settings: &[
            Setting { name: "stride", expects: ONE, default: Some("1") },
            Setting { name: "padding", expects: "one number or `[left, right]`", default: Some("0") },
            Setting { name: "output_padding", expects: "a whole number", default: Some("0") },
            Setting { name: "dilation", expects: ONE, default: Some("1") },
            Setting { name: "groups", expects: ONE, default: Some("1") },
        ],
    };

    fn build(args: &Args<'_>) -> Result<ConvTranspose1d, RuleError> {
        Ok(ConvTranspose1d {
            stride: args.size("stride", 1, Some(1))?,
            padding: padding(args, "one number or `[left, right]`")?,
            output_padding: args.size("output_padding", 0, Some(0))?,
            dilation: args.size("dilation", 1, Some(1))?,
            groups: args.size("groups", 1, Some(1))?,
        })
    }
}

/// The output's type. `sides` has stride, padding before and after, output padding and dilation of each direction.
fn infer(inputs: &[Type], groups: usize, sides: &[[usize; 5]]) -> Result<Type, RuleError> {
    let dtype = Kind::Floats.of_all(inputs)?;
    let rank = sides.len() + 2;
    let expected = if sides.len() == 1 { "3 dimensions" } else { "4 dimensions" };
    if let Some(input) = inputs.iter().take(2).position(|input| input.shape.rank() != rank) {
        return Err(RuleError::Rank { input, expected });
    }
    let (x, w) = (inputs[0].shape.dims(), inputs[1].shape.dims());
    if x[1] != w[0] {
        return Err(RuleError::Mismatch {
            left: (0, 1),
            right: (1, 0),
            rule: "there has to be a filter for each channel of the images, so that the weights are `C O/groups` and taps",
        });
    }
    if x[1].over_exactly(groups).is_none() {
        return Err(bad("groups", "a divisor of the input channels"));
    }
    let filters = w[1].times(groups).ok_or(RuleError::Overflow)?;
    if let Some(bias) = inputs.get(2) {
        if bias.shape.rank() != 1 {
            return Err(RuleError::Rank { input: 2, expected: "1 dimension, an element per output channel" });
        }
        if bias.shape.dims()[0] != filters {
            let rule = "there has to be one element per output channel";
            return Err(RuleError::Extent { at: (2, 0), expected: filters.size, at_least: false, rule });
        }
    }
    let mut shape = Shape::new(&[x[0], if groups == 1 { w[1] } else { filters }]).unwrap_or_default();
    for (side, [stride, before, after, more, dilation]) in sides.iter().copied().enumerate() {
        let axis = side + 2;
        if more >= stride.max(dilation) {
            return Err(bad("output_padding", "less than the stride or the dilation"));
        }
        for (input, dim) in [x[axis], w[axis]].iter().enumerate() {
            if !Dim::new(1).at_most(*dim) {
                let rule = "there has to be something to spread, and a tap to spread it with";
                return Err(RuleError::Extent { at: (input, axis), expected: 1, at_least: true, rule });
            }
        }
        let Some(taps) = w[axis].fixed() else {
            return Err(RuleError::OpenExtent { at: (1, axis), rule: "a filter's taps are part of the operator" });
        };
        let reach = (taps - 1).checked_mul(dilation).and_then(|reach| reach.checked_add(more + 1));
        let none = match x[axis].formula {
            Some(formula) if formula.over > 1 => RuleError::NoFormula { rule: "how far the elements are spread" },
            _ => RuleError::Overflow,
        };
        let spread = x[axis].minus(1).and_then(|last| last.times(stride)).ok_or(none)?;
        let whole = reach.and_then(|reach| spread.plus(reach)).ok_or(RuleError::Overflow)?;
        let size = whole.minus(before.saturating_add(after)).filter(|size| Dim::new(1).at_most(*size));
        let size = size.ok_or(bad("padding", "less than the output, of which it is cut off"))?;
        shape = shape.with(super::window::named(size, x[axis])).ok_or(RuleError::TooManyDims)?;
    }
    Ok(Type { dtype, shape })
}

impl ConvTranspose1d {
    /// The same on images of height 1.
    pub fn on_images(&self) -> ConvTranspose2d {
        let ConvTranspose1d { stride, padding: [left, right], output_padding, dilation, groups } = *self;
        ConvTranspose2d {
            stride: [1, stride],
            padding: [0, left, 0, right],
            output_padding: [0, output_padding],
            dilation: [1, dilation],
            groups,
        }
    }
}

/// Rows of an image of that height and width that are worked on together.
pub const fn transposed_rows(height: usize, width: usize) -> usize {
    let few = if width == 0 || width > 32 { 1 } else { 64 / width };
    if few < height { few } else { height }
}

/// Bytes for what some rows of an image add to the output before it is put there.
fn room(w: &Shape, height: usize, width: usize) -> usize {
    let taps = w.dims().iter().skip(1).fold(1usize, |taps, dim| taps.saturating_mul(dim.size));
    // A narrower image may have more rows together, and smaller extents may not need more room.
    let rows = transposed_rows(height, width).saturating_mul(width);
    let together = rows.max(height.saturating_mul(width).min(64));
    taps.saturating_mul(together).saturating_mul(4)
}

impl Operator for ConvTranspose2d {
    fn through_f32(&self) -> bool {
        true
    }

    fn infer(&self, inputs: &[Type]) -> Result<Type, RuleError> {
        let side = |side: usize| {
            let [before, after] = [self.padding[side], self.padding[side + 2]];
            [self.stride[side], before, after, self.output_padding[side], self.dilation[side]]
        };
        infer(inputs, self.groups, &[side(0), side(1)])
    }

    fn takes_stages(&self) -> bool {
        true
    }

    fn scratch(&self, inputs: &[Type], _: &Type) -> usize {
        let x = inputs[0].shape.dims();
        room(&inputs[1].shape, x[2].size, x[3].size)
    }
}

impl Operator for ConvTranspose1d {
    fn through_f32(&self) -> bool {
        true
    }

    fn infer(&self, inputs: &[Type]) -> Result<Type, RuleError> {
        let [before, after] = self.padding;
        infer(inputs, self.groups, &[[self.stride, before, after, self.output_padding, self.dilation]])
    }

    fn takes_stages(&self) -> bool {
        true
    }

    fn scratch(&self, inputs: &[Type], _: &Type) -> usize {
        room(&inputs[1].shape, 1, inputs[0].shape.dims()[2].size)
    }
}
