//! What is put by indices: rows of one tensor into another, in place of what is there or joined with it.

use super::rule::Kind;
use super::{Args, Described, Field, Fields, Operator, RuleError, Setting, Spec, Value, operator};
use crate::Type;

operator! {
    /// `x` with the rows that `index` counts along `axis` replaced by those of `updates`, or joined with them: `updates` has
    /// the dimensions of `index` in place of the axis, as `gather` would have made it. Of several updates of one row each is
    /// applied to what those before it left, in the order of the indices. Negative indices count from the end; one beyond
    /// either end is an error, and nothing is written. Sums and products of integers wrap; of NaN and another number the
    /// larger and the smaller are NaN.
    Scatter = "scatter" {
        /// The axis that rows are counted along.
        axis: usize,
        /// What becomes of a row: 0 replaced, 1 the sum, 2 the product, 3 the larger, 4 the smaller of both.
        reduce: usize,
    }
}

const REDUCE: [&str; 5] = ["none", "add", "mul", "max", "min"];

impl Described for Scatter {
    const SPEC: Spec = Spec {
        name: "scatter",
        doc: "x with rows along an axis replaced by those of updates, or joined with them, at each index; updates has the \
              dimensions of index in place of the axis; negative ones count from the end",
        operands: &["x", "index", "updates"],
        optional: 0,
        variadic: false,
        settings: &[
            Setting { name: "axis", expects: "an axis of x", default: Some("0") },
            Setting { name: "reduce", expects: "`none`, `add`, `mul`, `max` or `min`", default: Some("none") },
        ],
    };

    fn build(args: &Args<'_>) -> Result<Scatter, RuleError> {
        if args.inputs[0].shape.rank() == 0 {
            return Err(RuleError::Rank { input: 0, expected: "at least 1 dimension" });
        }
        let reduce = args.word("reduce", &REDUCE, "`none`, `add`, `mul`, `max` or `min`")?;
        Ok(Scatter { axis: args.axis("axis", 0, Some(0))?, reduce })
    }
}

impl Operator for Scatter {
    fn settings(&self, _: &[Type], visit: &mut dyn FnMut(&'static str, Value<'_>)) {
        self.fields(&mut |name, field| match (name, field) {
            ("reduce", Field::Usize(reduce)) => visit(name, Value::Word(REDUCE[reduce.min(4)])),
            _ => field.spell(&mut |value| visit(name, value)),
        });
    }

    fn infer(&self, inputs: &[Type]) -> Result<Type, RuleError> {
        Kind::Indices.check(inputs, 1)?;
        let kind = if self.reduce == 0 { Kind::Any } else { Kind::Numbers };
        if kind.check(inputs, 0)? != kind.check(inputs, 2)? {
            return Err(RuleError::Mixed { left: 0, right: 2 });
        }
        let [x, index, updates] = [0, 1, 2].map(|input| inputs[input].shape);
        if x.rank() <= self.axis {
            return Err(RuleError::Rank { input: 0, expected: "more dimensions than `axis`" });
        }
        if updates.rank() != x.rank() - 1 + index.rank() {
            let expected = "as many dimensions as `gather(x, index)` gives";
            return Err(RuleError::Rank { input: 2, expected });
        }
        let before = (0..self.axis).map(|axis| (0, axis));
        let along = (0..index.rank()).map(|axis| (1, axis));
        let behind = (self.axis + 1..x.rank()).map(|axis| (0, axis));
        for (axis, (input, from)) in before.chain(along).chain(behind).enumerate() {
            if inputs[input].shape.dims()[from] != updates.dims()[axis] {
                return Err(RuleError::Mismatch {
                    left: (input, from),
                    right: (2, axis),
                    rule: "there has to be one update for each index, with the extents of `x` beside the axis",
                });
            }
        }
        Ok(inputs[0])
    }

    fn in_place(&self, input: usize) -> bool {
        input == 0
    }

    /// Sums of halves are rounded once, at the end.
    fn through_f32(&self) -> bool {
        self.reduce != 0
    }
}
