//! Operators that only look at a tensor's bytes in another way. None of them is a step.

use super::rule::bad;
use super::{Action, Args, Described, Expected, Field, Operator, RuleError, Setting, Spec, Value, operator};
use crate::{Dim, MAX_RANK, Shape, Type, View};

operator! {
    /// The operand itself under another name.
    Identity = "identity" {}
    /// The same elements in row-major order under another shape.
    Reshape = "reshape" {
        /// The new extents; ones beyond `rank`.
        dims: [Dim; MAX_RANK],
        /// How many of them count.
        rank: usize,
    }
    /// The dimensions from `start` to the last become one.
    Flatten = "flatten" {
        /// First dimension that is merged.
        start: usize,
    }
    /// The last two dimensions swapped.
    Transpose = "transpose" {}
    /// Dimension `i` of the result is dimension `axes[i]` of the operand.
    Permute = "permute" {
        /// Where each dimension comes from.
        axes: [usize; MAX_RANK],
    }
    /// Every `step`-th index from `start` to before `end` along `axis`.
    Slice = "slice" {
        /// The axis that is cut.
        axis: usize,
        /// First index.
        start: Dim,
        /// One past the last index.
        end: Dim,
        /// Distance between indices.
        step: usize,
    }
}

impl Operator for Identity {
    fn infer(&self, inputs: &[Type]) -> Result<Type, RuleError> {
        Ok(inputs[0])
    }

    fn action(&self) -> Action {
        Action::View
    }

    fn view(&self, input: &View, _: &Type) -> Option<View> {
        Some(*input)
    }
}

impl Described for Reshape {
    const SPEC: Spec = Spec {
        name: "reshape",
        doc: "the same elements in row-major order under another shape; one extent may be `_`",
        operands: &["x"],
        optional: 0,
        variadic: false,
        settings: &[Setting { name: "shape", expects: "a list of extents", default: None }],
    };

    fn build(args: &Args<'_>) -> Result<Reshape, RuleError> {
        let (mut shape, open) = args.dims("shape")?;
        let given = &args.inputs[0].shape;
        let wrong = elements_of(given)?;
        if let Some(axis) = open {
            if shape.elements() == Some(0) {
                return Err(bad("shape", "extents without a 0 where `_` is to be inferred"));
            }
            shape.dims_mut()[axis] = given.product_over(&shape).ok_or(wrong)?;
        } else if !shape.same_elements(given) {
            return Err(wrong);
        }
        let mut dims = [Dim::new(1); MAX_RANK];
        for (dim, given) in dims.iter_mut().zip(shape.dims()) {
            *dim = *given;
        }
        Ok(Reshape { dims, rank: shape.rank() })
    }
}

/// The complaint that extents are not those of as many elements as a tensor of that shape has.
fn elements_of(shape: &Shape) -> Result<RuleError, RuleError> {
    let expected = match shape.is_open() {
        true => Expected::OpenElements,
        false => Expected::Elements(shape.elements().ok_or(RuleError::Overflow)?),
    };
    Ok(RuleError::Setting { name: "shape", expected })
}

impl Operator for Reshape {
    fn settings(&self, _: &[Type], visit: &mut dyn FnMut(&'static str, Value<'_>)) {
        Field::Dims(&self.dims[..self.rank]).spell(&mut |shape| visit("shape", shape));
    }

    fn infer(&self, inputs: &[Type]) -> Result<Type, RuleError> {
        let mut shape = Shape::SCALAR;
        for dim in self.dims.iter().take(self.rank) {
            shape = shape.with(*dim).ok_or(RuleError::TooManyDims)?;
        }
        if !shape.same_elements(&inputs[0].shape) {
            return Err(elements_of(&inputs[0].shape)?);
        }
        Ok(Type { dtype: inputs[0].dtype, shape })
    }

    fn action(&self) -> Action {
        Action::View
    }

    fn view(&self, input: &View, output: &Type) -> Option<View> {
        reshaped(input, output)
    }
}

impl Described for Flatten {
    const SPEC: Spec = Spec {
        name: "flatten",
        doc: "the dimensions from `start` to the last become one",
        operands: &["x"],
        optional: 0,
        variadic: false,
        settings: &[Setting { name: "start", expects: "an axis", default: Some("1") }],
    };

    fn build(args: &Args<'_>) -> Result<Flatten, RuleError> {
        if args.inputs[0].shape.rank() < 2 && args.get("start").is_none() {
            return Err(RuleError::Rank { input: 0, expected: "at least 2 dimensions, or `start` named" });
        }
        Ok(Flatten { start: args.axis("start", 0, Some(1))? })
    }
}

impl Operator for Flatten {
    fn infer(&self, inputs: &[Type]) -> Result<Type, RuleError> {
        let dims = inputs[0].shape.dims();
        let (kept, merged) = dims.split_at(self.start);
        let last = match merged {
            [only] => *only,
            _ => {
                let merged = Shape::new(merged).unwrap_or_default();
                // What could not be counted at the bound is too large; else there is no formula.
                merged.elements().ok_or(RuleError::Overflow)?;
                merged.product().ok_or(RuleError::NoFormula { rule: "the product of the merged extents" })?
            }
        };
        let shape = Shape::new(kept).and_then(|shape| shape.with(last)).ok_or(RuleError::TooManyDims)?;
        Ok(Type { dtype: inputs[0].dtype, shape })
    }

    fn action(&self) -> Action {
        Action::View
    }

    fn view(&self, input: &View, output: &Type) -> Option<View> {
        reshaped(input, output)
    }
}

impl Described for Transpose {
    const SPEC: Spec = Spec {
        name: "transpose",
        doc: "the last two dimensions swapped",
        operands: &["x"],
        optional: 0,
        variadic: false,
        settings: &[],
    };

    fn build(_: &Args<'_>) -> Result<Transpose, RuleError> {
        Ok(Transpose {})
    }
}

impl Operator for Transpose {
    fn infer(&self, inputs: &[Type]) -> Result<Type, RuleError> {
        let mut output = inputs[0];
        let rank = output.shape.rank();
        if rank < 2 {
            return Err(RuleError::Rank { input: 0, expected: "at least 2 dimensions" });
        }
        output.shape.dims_mut().swap(rank - 2, rank - 1);
        Ok(output)
    }

    fn action(&self) -> Action {
        Action::View
    }

    fn view(&self, input: &View, _: &Type) -> Option<View> {
        let mut view = *input;
        view.dims.swap(input.rank - 2, input.rank - 1);
        view.strides.swap(input.rank - 2, input.rank - 1);
        Some(view)
    }
}

impl Described for Permute {
    const SPEC: Spec = Spec {
        name: "permute",
        doc: "dimension i of the result is dimension axes[i] of the operand",
        operands: &["x"],
        optional: 0,
        variadic: false,
        settings: &[Setting { name: "axes", expects: "every axis once, in the new order", default: None }],
    };

    fn build(args: &Args<'_>) -> Result<Permute, RuleError> {
        let rank = args.inputs[0].shape.rank();
        let wrong = bad("axes", "every axis of the operand once, in the new order");
        let Some(given) = args.get("axes") else {
            return Err(RuleError::Missing { name: "axes", expects: "every axis once, in the new order" });
        };
        let Value::List(list) = given else { return Err(wrong) };
        if list.len() != rank {
            return Err(wrong);
        }
        args.axes("axes").map_err(|_| wrong)?;
        let mut axes = [0; MAX_RANK];
        for (axis, value) in axes.iter_mut().zip(list) {
            let Value::Int(given, _) = *value else { return Err(wrong) };
            *axis = if given < 0 { (given + rank as i64) as usize } else { given as usize };
        }
        Ok(Permute { axes })
    }
}

impl Operator for Permute {
    fn settings(&self, inputs: &[Type], visit: &mut dyn FnMut(&'static str, Value<'_>)) {
        let rank = inputs.first().map_or(MAX_RANK, |input| input.shape.rank());
        Field::Usizes(&self.axes[..rank]).spell(&mut |axes| visit("axes", axes));
    }

    fn infer(&self, inputs: &[Type]) -> Result<Type, RuleError> {
        let mut output = inputs[0];
        for (axis, dim) in output.shape.dims_mut().iter_mut().enumerate() {
            *dim = inputs[0].shape.dims()[self.axes[axis]];
        }
        Ok(output)
    }

    fn action(&self) -> Action {
        Action::View
    }

    fn view(&self, input: &View, _: &Type) -> Option<View> {
        let mut view = *input;
        for axis in 0..input.rank {
            view.dims[axis] = input.dims[self.axes[axis]];
            view.strides[axis] = input.strides[self.axes[axis]];
        }
        Some(view)
    }
}

impl Described for Slice {
    const SPEC: Spec = Spec {
        name: "slice",
        doc: "every step-th index from start to before end along an axis; also written x[a..b, ..]",
        operands: &["x"],
        optional: 0,
        variadic: false,
        settings: &[
            Setting { name: "axis", expects: "an axis", default: Some("0") },
            Setting { name: "start", expects: "an index", default: Some("0") },
            Setting { name: "end", expects: "one past the last index", default: Some("the extent") },
            Setting { name: "step", expects: "a whole number above 0", default: Some("1") },
        ],
    };

    fn build(args: &Args<'_>) -> Result<Slice, RuleError> {
        if args.inputs[0].shape.rank() == 0 {
            return Err(RuleError::Rank { input: 0, expected: "at least 1 dimension" });
        }
        let axis = args.axis("axis", 0, Some(0))?;
        let extent = args.inputs[0].shape.dims()[axis];
        let start = index(args, "start", extent, Dim::new(0), Dim::new(0))?;
        let end = index(args, "end", extent, start, extent)?;
        Ok(Slice { axis, start, end, step: args.size("step", 1, Some(1))? })
    }
}

/// The index given for `name`, negative counted from the end, no less than `low` and no more than `extent`.
fn index(args: &Args<'_>, name: &'static str, extent: Dim, low: Dim, default: Dim) -> Result<Dim, RuleError> {
    let wrong = RuleError::Setting {
        name,
        expected: match (low.fixed(), extent.fixed()) {
            (Some(low), Some(extent)) => Expected::Between(low as i64, extent as i64),
            _ => Expected::Words("an index within the extent, whatever the open extents are"),
        },
    };
    let given = match args.get(name) {
        None => Some(default),
        Some(Value::Int(given, _)) if given < 0 => {
            usize::try_from(given.unsigned_abs()).ok().and_then(|back| extent.minus(back))
        }
        Some(Value::Int(given, _)) => usize::try_from(given).ok().map(Dim::new),
        Some(Value::Open(given)) => Some(given.named(0)),
        Some(_) => None,
    };
    given.filter(|index| low.at_most(*index) && index.at_most(extent)).ok_or(wrong)
}

impl Operator for Slice {
    fn infer(&self, inputs: &[Type]) -> Result<Type, RuleError> {
        let mut output = inputs[0];
        let extent = output.shape.dims()[self.axis];
        let rule = RuleError::NoFormula { rule: "the length of the range, which may not shrink where the dim grows" };
        let length = self.end.without(self.start).ok_or(rule)?;
        let count = match length.fixed() {
            Some(length) => Dim::new(length.div_ceil(self.step)),
            None => length.plus(self.step - 1).and_then(|dim| dim.over(self.step)).ok_or(RuleError::Overflow)?,
        };
        if count != extent {
            output.shape.dims_mut()[self.axis] = count.named(0);
        }
        Ok(output)
    }

    fn action(&self) -> Action {
        Action::View
    }

    fn view(&self, input: &View, output: &Type) -> Option<View> {
        let mut view = *input;
        let count = output.shape.dims()[self.axis].size;
        view.dims[self.axis] = count;
        // Nothing is looked for beyond the last element, so neither start nor step leave the operand.
        if view.dims.contains(&0) {
            return Some(view);
        }
        view.offset += self.start.size * input.strides[self.axis] * input.dtype.size();
        if count > 1 {
            view.strides[self.axis] = input.strides[self.axis] * self.step;
        }
        Some(view)
    }
}

/// The operand's bytes under another shape, when that needs no copy: always for packed elements; for strided ones when
/// every run of dimensions that is merged or split lies evenly.
fn reshaped(input: &View, output: &Type) -> Option<View> {
    let mut view = View::packed(output.dtype, input.offset, &output.shape);
    if input.is_packed() {
        return Some(view);
    }
    // Walk both shapes from the innermost dimension in groups of equal products; each group of the operand has to be
    // one even run, which the new dimensions then subdivide.
    let (mut from, mut to) = (input.rank, view.rank);
    while from > 0 {
        from -= 1;
        if input.dims[from] == 1 {
            continue;
        }
        let inner = input.strides[from];
        let mut group = input.dims[from];
        let mut product = 1;
        let mut stride = inner;
        loop {
            if product < group {
                to = to.checked_sub(1)?;
                view.strides[to] = stride;
                product *= view.dims[to];
                stride *= view.dims[to];
            } else if group < product {
                loop {
                    from = from.checked_sub(1)?;
                    if input.dims[from] != 1 {
                        break;
                    }
                }
                if input.strides[from] != inner * group {
                    return None;
                }
                group *= input.dims[from];
            } else {
                break;
            }
        }
    }
    Some(view)
}
