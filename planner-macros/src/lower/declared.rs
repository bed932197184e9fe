//! What fields are declared as: element types, extents and their names, and the roles that need them fixed.

use model_graph_planner::{DType, Dim, MAX_RANK, Role, Shape, TensorId, Type};

use super::Lowering;
use crate::ast;
use crate::dims::DimExpr;
use crate::error::{At, Report};

impl Lowering<'_, '_> {
    /// The tensor, unless its role needs extents that are fixed and it has others.
    pub(super) fn fixed_role(&mut self, index: usize, id: Option<TensorId>) -> Option<TensorId> {
        let field = &self.scope.model.fields[index];
        let ty = self.graph.tensor(id?).ty;
        let what = match &field.role {
            ast::Role::Weight { .. } => "a weight",
            ast::Role::State => "a state",
            ast::Role::Constant(_) | ast::Role::ConstantFill(_) => "a constant",
            ast::Role::Node(_) | ast::Role::Chain { .. } if field.keep.is_some() => "a kept node",
            _ => return id,
        };
        if !ty.shape.is_open() {
            return id;
        }
        let open = match &field.ty {
            ast::Type::Tensor { dims, .. } => {
                let mut quiet = Report::default();
                let mut is_open =
                    |dim: &DimExpr| dim.dim(&self.scope.dims, &mut quiet).is_some_and(|dim| dim.is_open());
                dims.iter().position(&mut is_open).map(|axis| (axis, &dims[axis]))
            }
            _ => None,
        };
        let part = open.map_or(String::from("…"), |(axis, dim)| {
            let end = if dim.is_name() { dim.text() } else { format!("{{ {} }}", dim.text()) };
            format!("{}..{end}", ".., ".repeat(axis))
        });
        let text = format!(
            "{what} lives from one forward to the next and needs fixed extents, and `{}` is {}: the dim is open; {}",
            field.plain_name(),
            self.shape_text(&ty.shape),
            match what {
                "a kept node" => String::from("make it an output, or watch it with an `Observer`"),
                _ if ty.dtype.is_quantised() =>
                    String::from("give it the largest extent and use a part of what it gives"),
                _ =>
                    format!("give it the largest extent and use a part of it, such as `{}[{part}]`", field.plain_name()),
            }
        );
        let at = open.map(|(_, dim)| dim.at);
        self.report.add(at.unwrap_or(At::from(&field.name)), text);
        None
    }

    pub(super) fn leaf(&mut self, field: &ast::Field, role: Role, declared: Option<Option<Type>>) -> Option<TensorId> {
        let name = field.plain_name();
        let Some(ty) = declared else {
            if let ast::Type::Infer(span) = field.ty {
                self.report.add(
                    span,
                    format!(
                        "nothing says what `{name}` is: only `#[node]` and `#[output]` are inferred; write its type, such \
                         as `Tensor<f32, 32, 784>`"
                    ),
                );
            }
            return None;
        };
        self.graph.leaf(self.full(&name), role, ty?).ok()
    }

    /// The declared type: `None` for `_`, `Some(None)` after a complaint.
    pub(super) fn declared(&mut self, ty: &ast::Type, name: &str) -> Option<Option<Type>> {
        let (at, dtype, dims) = match ty {
            ast::Type::Infer(_) => return None,
            ast::Type::Broken | ast::Type::Chain { .. } => return Some(None),
            ast::Type::Tensor { at, dtype, dims } => (*at, dtype, dims),
        };
        let element = self.dtype(dtype);
        let mut shape = Some(Shape::SCALAR);
        for dim in dims {
            let value = self.extent(dim);
            shape = shape.zip(value).and_then(|(shape, dim)| shape.with(dim));
        }
        if dims.len() > MAX_RANK {
            self.report.add(at, format!("`{name}` has {} dimensions; a tensor has at most {MAX_RANK}", dims.len()));
        }
        let (Some(dtype), Some(shape)) = (element, shape) else { return Some(None) };
        if dtype.is_quantised() && shape.rank() == 0 {
            self.report.add(
                at,
                format!("`{name}` has no dimension along which {dtype} could lie in blocks; write at least one extent"),
            );
            return Some(None);
        }
        let ty = Type { dtype, shape };
        if ty.bytes().is_none_or(|bytes| isize::try_from(bytes).is_err()) {
            let text = self.shape_text(&shape);
            self.report.add(
                at,
                format!(
                    "the size of `{name}` overflows: {text} elements of {} bytes do not fit an address",
                    dtype.size()
                ),
            );
            return Some(None);
        }
        Some(Some(ty))
    }

    pub(super) fn dtype(&mut self, name: &proc_macro2::Ident) -> Option<DType> {
        let text = name.to_string();
        match DType::from_name(&text) {
            Some(dtype) => Some(dtype),
            None => {
                self.report.add(name, crate::foreign::no_dtype(&text, &[]));
                None
            }
        }
    }

    pub(super) fn extent(&mut self, dim: &DimExpr) -> Option<Dim> {
        let extent = dim.dim(&self.scope.dims, self.report)?;
        Some(extent.named(self.dim_name(dim)))
    }

    /// The number under which an extent's text is remembered; 0 when it is just a number.
    pub(super) fn dim_name(&mut self, dim: &DimExpr) -> u16 {
        if !dim.has_name() {
            return 0;
        }
        let text = dim.text();
        let known = self.dim_names.iter().position(|name| *name == text);
        let index = known.unwrap_or_else(|| {
            self.dim_names.push(text);
            self.dim_names.len() - 1
        });
        u16::try_from(index).unwrap_or(0)
    }
}
