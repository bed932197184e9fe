//! Channels become pixels and the other way round. Neither has a kernel: each stands for views and one copy.

use super::rule::bad;
use super::{Action, Args, Described, Operator, RuleError, Setting, Spec, Value, operator};
use crate::{Dim, Shape, Type};

operator! {
    /// Blocks of channels become blocks of `block x block` pixels.
    DepthToSpace = "depth_to_space" {
        /// The side of a block.
        block: usize,
        /// A channel of the result is a run of the operand's channels (PyTorch's `pixel_shuffle`); otherwise a pixel of the
        /// block is (ONNX's `DCR`, TensorFlow).
        crd: bool,
        /// Channels are the last dimension instead of the second.
        channels_last: bool,
    }
    /// Blocks of `block x block` pixels become channels.
    SpaceToDepth = "space_to_depth" {
        /// The side of a block.
        block: usize,
        /// A channel of the operand is a run of the result's channels (PyTorch's `pixel_unshuffle`); otherwise a pixel of
        /// the block is (TensorFlow).
        crd: bool,
        /// Channels are the last dimension instead of the second.
        channels_last: bool,
    }
}

/// The views that an operator stands for: a shape, an order of its axes, and the shape of the result.
type Moves = ([Dim; 6], [usize; 6], [Dim; 4]);

impl DepthToSpace {
    fn moves(&self, dims: [Dim; 4]) -> Option<Moves> {
        let block = self.block;
        let [n, c, h, w] = image(dims, self.channels_last);
        let (s, d) = (Dim::new(block), c.over_exactly(block.checked_mul(block)?)?);
        let (split, axes) = match (self.channels_last, self.crd) {
            (false, false) => ([n, s, s, d, h, w], [0, 3, 4, 1, 5, 2]),
            (false, true) => ([n, d, s, s, h, w], [0, 1, 4, 2, 5, 3]),
            (true, false) => ([n, h, w, s, s, d], [0, 1, 3, 2, 4, 5]),
            (true, true) => ([n, h, w, d, s, s], [0, 1, 4, 2, 5, 3]),
        };
        Some((split, axes, image_back([n, d, h.times(block)?, w.times(block)?], self.channels_last)))
    }
}

impl SpaceToDepth {
    fn moves(&self, dims: [Dim; 4]) -> Option<Moves> {
        let block = self.block;
        let [n, c, h, w] = image(dims, self.channels_last);
        let (s, rows, columns) = (Dim::new(block), h.over_exactly(block)?, w.over_exactly(block)?);
        let (split, axes) = match (self.channels_last, self.crd) {
            (false, false) => ([n, c, rows, s, columns, s], [0, 3, 5, 1, 2, 4]),
            (false, true) => ([n, c, rows, s, columns, s], [0, 1, 3, 5, 2, 4]),
            (true, false) => ([n, rows, s, columns, s, c], [0, 1, 3, 2, 4, 5]),
            (true, true) => ([n, rows, s, columns, s, c], [0, 1, 3, 5, 2, 4]),
        };
        let depth = c.times(block.checked_mul(block)?)?;
        Some((split, axes, image_back([n, depth, rows, columns], self.channels_last)))
    }
}

fn image([a, b, c, d]: [Dim; 4], channels_last: bool) -> [Dim; 4] {
    if channels_last { [a, d, b, c] } else { [a, b, c, d] }
}

fn image_back([n, c, h, w]: [Dim; 4], channels_last: bool) -> [Dim; 4] {
    if channels_last { [n, h, w, c] } else { [n, c, h, w] }
}

fn four(inputs: &[Type]) -> Result<[Dim; 4], RuleError> {
    match inputs[0].shape.dims() {
        [a, b, c, d] => Ok([*a, *b, *c, *d]),
        _ => Err(RuleError::Rank { input: 0, expected: "4 dimensions" }),
    }
}

macro_rules! space {
    ($( $name:ident, $text:literal, $doc:literal, $wrong:literal; )*) => { $(
        impl Described for $name {
            const SPEC: Spec = Spec {
                name: $text,
                doc: $doc,
                operands: &["x"],
                optional: 0,
                variadic: false,
                settings: &[
                    Setting { name: "block", expects: "a whole number above 0", default: None },
                    Setting { name: "mode", expects: "`dcr` or `crd`", default: Some("dcr") },
                    Setting { name: "layout", expects: "`nchw` or `nhwc`", default: Some("nchw") },
                ],
            };

            fn build(args: &Args<'_>) -> Result<$name, RuleError> {
                let op = $name {
                    block: args.size("block", 1, None)?,
                    crd: args.word("mode", &["dcr", "crd"], "`dcr` or `crd`")? == 1,
                    channels_last: args.word("layout", &["nchw", "nhwc"], "`nchw` or `nhwc`")? == 1,
                };
                op.infer(args.inputs)?;
                Ok(op)
            }
        }

        impl Operator for $name {
            fn settings(&self, _: &[Type], visit: &mut dyn FnMut(&'static str, Value<'_>)) {
                visit("block", Value::Int(i64::try_from(self.block).unwrap_or(i64::MAX), 0));
                visit("mode", Value::Word(if self.crd { "crd" } else { "dcr" }));
                visit("layout", Value::Word(if self.channels_last { "nhwc" } else { "nchw" }));
            }

            fn infer(&self, inputs: &[Type]) -> Result<Type, RuleError> {
                let dims = four(inputs)?;
                let (_, _, after) = self.moves(dims).ok_or(bad("block", $wrong))?;
                let mut shape = Shape::SCALAR;
                for (after, before) in after.iter().zip(inputs[0].shape.dims()) {
                    shape = shape.with(super::window::named(*after, *before)).ok_or(RuleError::TooManyDims)?;
                }
                Ok(Type { dtype: inputs[0].dtype, shape })
            }

            fn action(&self) -> Action {
                Action::Expand
            }

            #[cfg(feature = "alloc")]
            fn expand(
                &self,
                inputs: &[super::TensorId],
                types: &[Type],
                add: &mut super::AddCall<'_>,
            ) -> Result<super::Last, RuleError> {
                use alloc::rc::Rc;

                let moves = self.moves(four(types)?).ok_or(bad("block", $wrong))?;
                let (split, axes, after) = moves;
                let split = add("split", Rc::new(reshape(&split)), inputs)?;
                let moved = add("moved", Rc::new(super::Permute { axes }), &[split])?;
                Ok((Rc::new(reshape(&after)), alloc::vec![moved]))
            }
        }
    )* };
}

space! {
    DepthToSpace, "depth_to_space", "blocks of channels as blocks of pixels (mode = crd: PyTorch's pixel_shuffle)",
        "a number whose square divides the channels";
    SpaceToDepth, "space_to_depth", "blocks of pixels as channels (mode = crd: PyTorch's pixel_unshuffle)",
        "a number that divides height and width";
}

#[cfg(feature = "alloc")]
fn reshape(to: &[Dim]) -> super::Reshape {
    let mut dims = [Dim::new(1); crate::MAX_RANK];
    for (dim, to) in dims.iter_mut().zip(to) {
        *dim = to.named(0);
    }
    super::Reshape { dims, rank: to.len() }
}
