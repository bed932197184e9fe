//! What is looked up or made by indices: rows of a table, one-hot rows, the place of an extremum, running sums, triangles
//! and stretched tensors.

use super::rule::{Kind, bad};
use super::{Args, Described, Expected, Field, Operator, RuleError, Setting, Spec, Value, operator};
use crate::{DType, Dim, MAX_RANK, Shape, Type};

operator! {
    /// `table[.., index[..], ..]` along `axis`: its dimension is replaced by those of `index`. Negative indices count from
    /// the end; one beyond either end is an error, and nothing is written. Of a table in blocks the result is `f32`.
    Gather = "gather" {
        /// The axis that is looked up in.
        axis: usize,
    }
    /// `1` at the index along a new axis, `0` elsewhere; nothing but 0 for an index that lies beyond `depth`.
    OneHot = "one_hot" {
        /// Extent of the new axis.
        depth: usize,
        /// Where the new axis stands in the result.
        axis: usize,
    }
    /// The index of the largest element along an axis, the first of several; a NaN is larger than all.
    ArgMax = "arg_max" {
        /// The axis that is searched.
        axis: usize,
        /// Keep it with extent 1 instead of dropping it.
        keep_dims: bool,
        /// The last of several instead of the first.
        last: bool,
    }
    /// The index of the smallest element along an axis, the first of several; a NaN is smaller than all.
    ArgMin = "arg_min" {
        /// The axis that is searched.
        axis: usize,
        /// Keep it with extent 1 instead of dropping it.
        keep_dims: bool,
        /// The last of several instead of the first.
        last: bool,
    }
    /// `y[i] = Σ x[0..=i]` along an axis. Integers wrap.
    CumSum = "cum_sum" {
        /// The axis along which is summed.
        axis: usize,
        /// Leave the element itself out: `Σ x[0..i]`.
        exclusive: bool,
        /// From the last element to the first.
        reverse: bool,
    }
    /// What lies on and above a diagonal of the last two dimensions, or on and below it; 0 elsewhere.
    Trilu = "trilu" {
        /// On and above it.
        upper: bool,
        /// How far the diagonal is moved to the right.
        right: usize,
        /// How far it is moved to the left.
        left: usize,
    }
    /// The operand, stretched to other extents by numpy's rule.
    BroadcastTo = "broadcast_to" {
        /// The extents; 1 beyond `rank`.
        dims: [Dim; MAX_RANK],
        /// How many of them count.
        rank: usize,
    }
}

impl Described for Gather {
    const SPEC: Spec = Spec {
        name: "gather",
        doc: "rows of a table by index: the axis is replaced by the dimensions of index; negative ones count from the end",
        operands: &["table", "index"],
        optional: 0,
        variadic: false,
        settings: &[Setting { name: "axis", expects: "an axis of the table", default: Some("0") }],
    };

    fn build(args: &Args<'_>) -> Result<Gather, RuleError> {
        if args.inputs[0].shape.rank() == 0 {
            return Err(RuleError::Rank { input: 0, expected: "at least 1 dimension" });
        }
        Ok(Gather { axis: args.axis("axis", 0, Some(0))? })
    }
}

impl Operator for Gather {
    fn infer(&self, inputs: &[Type]) -> Result<Type, RuleError> {
        Kind::Indices.check(inputs, 1)?;
        let (table, index) = (inputs[0], inputs[1].shape);
        let dims = table.shape.dims();
        if dims.len() <= self.axis {
            return Err(RuleError::Rank { input: 0, expected: "more dimensions than `axis`" });
        }
        if table.dtype.is_quantised() && self.axis + 1 == dims.len() {
            return Err(bad("axis", "an axis before the last, along which the table lies in blocks"));
        }
        let mut shape = Shape::SCALAR;
        for dim in dims[..self.axis].iter().chain(index.dims()).chain(&dims[self.axis + 1..]) {
            shape = shape.with(*dim).ok_or(RuleError::TooManyDims)?;
        }
        let dtype = if table.dtype.is_quantised() { DType::F32 } else { table.dtype };
        Ok(Type { dtype, shape })
    }

    fn strided_input(&self, input: usize) -> bool {
        input == 0
    }

    fn takes_blocks(&self, input: usize) -> bool {
        input == 0
    }
}

impl Described for OneHot {
    const SPEC: Spec = Spec {
        name: "one_hot",
        doc: "1 at the index along a new axis, 0 elsewhere, as f32; nothing but 0 for an index that lies beyond",
        operands: &["index"],
        optional: 0,
        variadic: false,
        settings: &[
            Setting { name: "depth", expects: "a whole number", default: None },
            Setting { name: "axis", expects: "an axis of the result", default: Some("-1") },
        ],
    };

    fn build(args: &Args<'_>) -> Result<OneHot, RuleError> {
        let rank = args.inputs[0].shape.rank() + 1;
        let wrong = RuleError::Setting { name: "axis", expected: Expected::Axis(rank) };
        let axis = match args.get("axis") {
            None => rank - 1,
            Some(Value::Int(axis, _)) => super::rule::axis_of(axis, rank).ok_or(wrong)?,
            Some(_) => return Err(wrong),
        };
        Ok(OneHot { depth: args.size("depth", 0, None)?, axis })
    }
}

impl Operator for OneHot {
    fn infer(&self, inputs: &[Type]) -> Result<Type, RuleError> {
        Kind::Indices.check(inputs, 0)?;
        let dims = inputs[0].shape.dims();
        if self.axis > dims.len() {
            return Err(RuleError::Rank { input: 0, expected: "at least `axis` dimensions" });
        }
        let mut shape = Shape::SCALAR;
        for dim in dims[..self.axis].iter().chain([&Dim::new(self.depth)]).chain(&dims[self.axis..]) {
            shape = shape.with(*dim).ok_or(RuleError::TooManyDims)?;
        }
        Ok(Type::f32(shape))
    }
}

macro_rules! arg {
    ($( $name:ident, $text:literal, $doc:literal; )*) => { $(
        impl Described for $name {
            const SPEC: Spec = Spec {
                name: $text,
                doc: $doc,
                operands: &["x"],
                optional: 0,
                variadic: false,
                settings: &[
                    Setting { name: "axis", expects: "an axis", default: Some("-1") },
                    Setting { name: "keep_dims", expects: "`true` or `false`", default: Some("false") },
                    Setting { name: "last", expects: "`true` or `false`", default: Some("false") },
                ],
            };

            fn build(args: &Args<'_>) -> Result<$name, RuleError> {
                if args.inputs[0].shape.rank() == 0 {
                    return Err(RuleError::Rank { input: 0, expected: "at least 1 dimension" });
                }
                Ok($name {
                    axis: args.axis("axis", 0, Some(-1))?,
                    keep_dims: args.bool("keep_dims", false)?,
                    last: args.bool("last", false)?,
                })
            }
        }

        impl Operator for $name {
            fn infer(&self, inputs: &[Type]) -> Result<Type, RuleError> {
                Kind::Numbers.of_all(inputs)?;
                let dims = inputs[0].shape.dims();
                match dims.get(self.axis) {
                    None => return Err(RuleError::Rank { input: 0, expected: "more dimensions than `axis`" }),
                    Some(dim) if dim.size == 0 && inputs[0].shape.elements() == Some(0) => {
                        return Err(RuleError::Extent {
                            at: (0, self.axis),
                            expected: 1,
                            at_least: true,
                            rule: "there is no largest and no smallest element of none",
                        });
                    }
                    Some(_) => {}
                }
                let mut shape = Shape::SCALAR;
                for (axis, dim) in dims.iter().enumerate() {
                    let dim = if axis == self.axis { self.keep_dims.then_some(Dim::new(1)) } else { Some(*dim) };
                    if let Some(dim) = dim {
                        shape = shape.with(dim).ok_or(RuleError::TooManyDims)?;
                    }
                }
                Ok(Type { dtype: DType::I64, shape })
            }

            fn strided_input(&self, _: usize) -> bool {
                true
            }

            fn through_f32(&self) -> bool {
                true
            }
        }
    )* };
}

arg! {
    ArgMax, "arg_max", "the index of the largest element along an axis, as i64; the first of several, or the last";
    ArgMin, "arg_min", "the index of the smallest element along an axis, as i64; the first of several, or the last";
}

impl Described for CumSum {
    const SPEC: Spec = Spec {
        name: "cum_sum",
        doc: "the sum of all elements up to each along an axis",
        operands: &["x"],
        optional: 0,
        variadic: false,
        settings: &[
            Setting { name: "axis", expects: "an axis", default: Some("-1") },
            Setting { name: "exclusive", expects: "`true` or `false`", default: Some("false") },
            Setting { name: "reverse", expects: "`true` or `false`", default: Some("false") },
        ],
    };

    fn build(args: &Args<'_>) -> Result<CumSum, RuleError> {
        if args.inputs[0].shape.rank() == 0 {
            return Err(RuleError::Rank { input: 0, expected: "at least 1 dimension" });
        }
        Ok(CumSum {
            axis: args.axis("axis", 0, Some(-1))?,
            exclusive: args.bool("exclusive", false)?,
            reverse: args.bool("reverse", false)?,
        })
    }
}

impl Operator for CumSum {
    fn infer(&self, inputs: &[Type]) -> Result<Type, RuleError> {
        Kind::Numbers.of_all(inputs)?;
        if inputs[0].shape.rank() <= self.axis {
            return Err(RuleError::Rank { input: 0, expected: "more dimensions than `axis`" });
        }
        Ok(inputs[0])
    }

    fn strided_input(&self, _: usize) -> bool {
        true
    }

    fn through_f32(&self) -> bool {
        true
    }
}

impl Described for Trilu {
    const SPEC: Spec = Spec {
        name: "trilu",
        doc: "what lies on and above a diagonal of the last two dimensions, or on and below it; 0 elsewhere",
        operands: &["x"],
        optional: 0,
        variadic: false,
        settings: &[
            Setting { name: "part", expects: "`upper` or `lower`", default: Some("upper") },
            Setting { name: "diagonal", expects: "a whole number, to the right of the main one", default: Some("0") },
        ],
    };

    fn build(args: &Args<'_>) -> Result<Trilu, RuleError> {
        let upper = args.word("part", &["upper", "lower"], "`upper` or `lower`")? == 0;
        let diagonal = match args.get("diagonal") {
            None => 0,
            Some(Value::Int(diagonal, _)) => diagonal,
            Some(_) => return Err(bad("diagonal", "a whole number")),
        };
        let far = |side: i64| usize::try_from(side).unwrap_or(0);
        Ok(Trilu { upper, right: far(diagonal), left: far(diagonal.saturating_neg()) })
    }
}

impl Operator for Trilu {
    fn settings(&self, _: &[Type], visit: &mut dyn FnMut(&'static str, Value<'_>)) {
        visit("part", Value::Word(if self.upper { "upper" } else { "lower" }));
        let diagonal = if self.right > 0 { self.right as i64 } else { -(self.left as i64) };
        visit("diagonal", Value::Int(diagonal, 0));
    }

    fn infer(&self, inputs: &[Type]) -> Result<Type, RuleError> {
        Kind::Any.of_all(inputs)?;
        if inputs[0].shape.rank() < 2 {
            return Err(RuleError::Rank { input: 0, expected: "at least 2 dimensions" });
        }
        Ok(inputs[0])
    }

    fn in_place(&self, _: usize) -> bool {
        true
    }
}

impl Described for BroadcastTo {
    const SPEC: Spec = Spec {
        name: "broadcast_to",
        doc: "the operand stretched to other extents by numpy's rule",
        operands: &["x"],
        optional: 0,
        variadic: false,
        settings: &[Setting { name: "shape", expects: "a list of extents", default: None }],
    };

    fn build(args: &Args<'_>) -> Result<BroadcastTo, RuleError> {
        let (shape, open) = args.dims("shape")?;
        if open.is_some() {
            return Err(bad("shape", "extents that are all given"));
        }
        let mut dims = [Dim::new(1); MAX_RANK];
        for (dim, given) in dims.iter_mut().zip(shape.dims()) {
            *dim = *given;
        }
        Ok(BroadcastTo { dims, rank: shape.rank() })
    }
}

impl Operator for BroadcastTo {
    fn settings(&self, _: &[Type], visit: &mut dyn FnMut(&'static str, Value<'_>)) {
        Field::Dims(&self.dims[..self.rank]).spell(&mut |shape| visit("shape", shape));
    }

    fn infer(&self, inputs: &[Type]) -> Result<Type, RuleError> {
        let dtype = Kind::Any.of_all(inputs)?;
        let mut shape = Shape::SCALAR;
        for dim in self.dims.iter().take(self.rank) {
            shape = shape.with(*dim).ok_or(RuleError::TooManyDims)?;
        }
        match inputs[0].shape.broadcast(&shape) {
            Ok(stretched) if stretched == shape => Ok(Type { dtype, shape }),
            _ => Err(bad(
                "shape",
                "extents that the operand's can be stretched to: equal, or 1 before, from the last on",
            )),
        }
    }

    fn strided_input(&self, _: usize) -> bool {
        true
    }

    fn strided_output(&self) -> bool {
        true
    }
}
