//! Indices: a part of a tensor, as slices and a reshape.

use model_graph_planner::op::{self, Args};
use model_graph_planner::{Dim, TensorId};
use proc_macro2::Ident;

use super::call::operand_text;
use super::{Lowering, Value};
use crate::ast::plain;
use crate::dims::DimExpr;
use crate::expr::{Expr, ExprKind, Range};

impl Lowering<'_, '_> {
    /// `x[1..3, ..]`: a slice for each range that cuts, and a reshape when an index drops a dimension.
    pub(super) fn index(&mut self, of: &Expr, ranges: &[Range], field: &str) -> Option<Value> {
        let Value::Tensor { mut id, mut fresh } = self.expr(of, field)? else {
            self.report.add(of.at, "a number cannot be indexed");
            return None;
        };
        let ty = self.graph.tensor(id).ty;
        if ty.dtype.is_quantised() {
            let (of_text, ty) = (operand_text(of), self.type_text(&ty));
            let text =
                format!("{of_text} is {ty}, a weight in blocks, which has no parts; take rows of it with `gather`");
            self.report.add(of.at, text);
            return None;
        }
        let shape = ty.shape;
        if ranges.len() > shape.rank() {
            let (text, of_text) = (self.shape_text(&shape), operand_text(of));
            let count = match shape.rank() {
                1 => String::from("one dimension"),
                rank => format!("{rank} dimensions"),
            };
            self.report
                .add(of.at, format!("{of_text} is {text}: it has {count} and is indexed with {} ranges", ranges.len()));
            return None;
        }
        let mut dropped = vec![false; shape.rank()];
        for (axis, range) in ranges.iter().enumerate() {
            let extent = shape.dims()[axis];
            let (at, start, end) = match range {
                Range::Span { start: None, end: None, .. } => continue,
                Range::Span { at, start, end } => {
                    let start = self.bound(start.as_ref(), Dim::new(0), (of, axis))?;
                    (*at, start, self.bound(end.as_ref(), extent, (of, axis))?)
                }
                Range::One(dim) => {
                    dropped[axis] = true;
                    let index = self.bound(Some(dim), Dim::new(0), (of, axis))?;
                    (dim.at, index, index.plus(1).unwrap_or(index))
                }
            };
            if !start.at_most(end) || !end.at_most(extent) || dropped[axis] && start == end {
                let of_text = operand_text(of);
                let [start_text, end_text, extent_text] =
                    [start, end, extent].map(|dim| self.extent_text(dim.named(0)));
                let open = [start, end, extent].iter().any(Dim::is_open);
                let always = if open { ", for some values of the open dims" } else { "" };
                let text = match (dropped[axis], start.at_most(end)) {
                    (true, _) if open => format!(
                        "index {start_text} is outside of dim {axis} of {of_text}, which has {extent_text} elements{always}"
                    ),
                    (true, _) => format!(
                        "index {start_text} is outside of dim {axis} of {of_text}, which has {extent_text} elements: 0 to {}",
                        extent.size.saturating_sub(1)
                    ),
                    (false, false) => format!("the range {start_text}..{end_text} ends before it starts{always}"),
                    (false, true) => format!(
                        "the range {start_text}..{end_text} reaches outside of dim {axis} of {of_text}, which has \
                         {extent_text} elements{always}"
                    ),
                };
                self.report.add(at, text);
                return None;
            }
            if end.without(start).is_none() {
                let [start, end] = [start, end].map(|dim| self.extent_text(dim.named(0)));
                let text = format!(
                    "the range {start}..{end} would shrink where its open dim grows, or follow from two, and memory is \
                     planned for the largest value; take a part that grows with it"
                );
                self.report.add(at, text);
                return None;
            }
            let settings = [("axis", int(axis)), ("start", value(start)), ("end", value(end))];
            let Some(slice) = self.view("slice", &settings, id, field) else {
                self.report.add(at, "the extents are too large for this index");
                return None;
            };
            id = slice;
            fresh = true;
        }
        if dropped.contains(&true) {
            let dims: Vec<op::Value<'_>> = self
                .graph
                .tensor(id)
                .ty
                .shape
                .dims()
                .iter()
                .enumerate()
                .filter(|(axis, _)| !dropped[*axis])
                .map(|(_, dim)| value(*dim))
                .collect();
            id = self.view("reshape", &[("shape", op::Value::List(&dims))], id, field)?;
        }
        Some(Value::Tensor { id, fresh })
    }

    /// An end of the range along an axis of `of`.
    fn bound(&mut self, dim: Option<&DimExpr>, default: Dim, (of, axis): (&Expr, usize)) -> Option<Dim> {
        let Some(dim) = dim else { return Some(default) };
        let scope = &self.scope;
        let tensor = |name: &Ident| !scope.dims.contains(name) && scope.fields.contains_key(&plain(name));
        if let Some(name) = dim.find_name(&tensor) {
            let of = match &of.kind {
                ExprKind::Name(of) => plain(of),
                _ => String::from("…"),
            };
            let tensor = plain(name);
            let axis = if axis > 0 { format!(", axis = {axis}") } else { String::new() };
            let text = format!(
                "`{tensor}` is a tensor, and an index is fixed: what stands where a tensor says is taken by \
                 `gather({of}, {tensor}{axis})`"
            );
            self.report.add(name, text);
            return None;
        }
        dim.dim(&self.scope.dims, self.report)
    }

    fn view(&mut self, op: &str, settings: &[(&str, op::Value<'_>)], of: TensorId, field: &str) -> Option<TensorId> {
        let inputs = [self.graph.tensor(of).ty];
        let op = (op::find(op)?.build)(&Args { settings, inputs: &inputs }).ok()?;
        match self.node(field, op, &[of]) {
            Ok(Value::Tensor { id, .. }) => Some(id),
            _ => None,
        }
    }
}

/// An extent as a setting's value.
fn value<'a>(dim: Dim) -> op::Value<'a> {
    if dim.is_open() { op::Value::Open(dim) } else { op::Value::Int(dim.size as i64, dim.name) }
}

fn int<'a>(number: usize) -> op::Value<'a> {
    op::Value::Int(number as i64, 0)
}
