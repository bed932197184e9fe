//! What can be reached of a block from outside: its weights, states, constants and kept nodes; and that its constants are what
//! they are where the block stands.

use std::rc::Rc;

use model_graph_planner::{Dim, Role, TensorId, Type};
use proc_macro2::TokenTree;

use super::Lowering;
use super::block::{Root, Segment, plain_name};
use crate::ast::{self, Model};
use crate::dims::Dims;
use crate::error::{At, Report, text};

/// A tensor of a block that can be reached from outside: a weight, a state, a constant or a kept node.
pub(crate) struct Part<'m> {
    pub(crate) root: Rc<Root>,
    /// Of a constant, its name after [`Root::key`].
    pub(crate) key: String,
    pub(crate) segments: Vec<Segment>,
    /// Of a weight, its name in a weights source.
    pub(crate) name: String,
    pub(crate) declared: &'m ast::Field,
    pub(crate) id: TensorId,
}

impl Lowering<'_, '_> {
    /// A constant. That of a block is worked out where the block stands, for the extents that it has there, and all
    /// copies have one.
    pub(super) fn constant(&mut self, index: usize, declared: Option<Option<Type>>) -> Option<TensorId> {
        let model = self.scope.model;
        let field = &model.fields[index];
        if let ast::Role::Constant(tokens) = &field.role
            && self.writes_state(tokens)
        {
            self.report.add(At::tokens(tokens), text::CONSTANT_WRITE);
        }
        if self.scope.block.is_none() {
            return self.leaf(field, Role::Constant, declared);
        }
        if let Some(id) = self.constants.get(&(std::ptr::from_ref(model), index)) {
            return Some(*id);
        }
        let ty = declared.flatten()?;
        let own = self.own_type(field);
        if own != Some(ty) {
            let name = field.plain_name();
            let there = own.map(|own| self.type_text(&own)).unwrap_or_else(|| String::from("open"));
            let text = format!(
                "constant `{name}` of `{}` is {there} where it is written and would be {} here; its extents cannot be \
                 bound: make it an input of the block",
                plain_name(model),
                self.type_text(&ty)
            );
            if let Some(at) = self.scope.block.as_ref().map(|block| block.at) {
                self.complain_of_use(at, text);
            }
            return None;
        }
        let id = self.leaf(field, Role::Constant, declared)?;
        self.constants.insert((std::ptr::from_ref(model), index), id);
        Some(id)
    }

    /// True for `write(state…`, which is no constant expression.
    fn writes_state(&self, tokens: &proc_macro2::TokenStream) -> bool {
        let mut trees = tokens.clone().into_iter();
        let (Some(TokenTree::Ident(name)), Some(TokenTree::Group(group))) = (trees.next(), trees.next()) else {
            return false;
        };
        let Some(TokenTree::Ident(state)) = group.stream().into_iter().next() else { return false };
        let field = self.scope.fields.get(&ast::plain(&state));
        name == "write" && field.is_some_and(|field| matches!(self.scope.model.fields[*field].role, ast::Role::State))
    }

    /// The type of a field where no dim is bound.
    fn own_type(&mut self, field: &ast::Field) -> Option<Type> {
        let mut own = std::mem::take(&mut self.scope.block.as_mut()?.own);
        let report = std::mem::take(self.report);
        std::mem::swap(&mut own, &mut self.scope.dims);
        let ty = self.declared(&field.ty, &field.plain_name()).flatten();
        std::mem::swap(&mut own, &mut self.scope.dims);
        *self.report = report;
        self.scope.block.as_mut()?.own = own;
        ty
    }

    /// Remembers what can be reached of a block.
    pub(super) fn part(&mut self, index: usize, id: Option<TensorId>) {
        let (Some(block), Some(id)) = (&self.scope.block, id) else { return };
        let declared = &self.scope.model.fields[index];
        let name = match &declared.role {
            ast::Role::Weight { name: Some(name) } => name.value(),
            ast::Role::Weight { name: None }
            | ast::Role::State
            | ast::Role::Constant(_)
            | ast::Role::ConstantFill(_) => declared.plain_name(),
            ast::Role::Node(_) | ast::Role::Chain { .. } if declared.keep.is_some() => declared.plain_name(),
            _ => return,
        };
        self.parts.push(Part {
            root: block.root.clone(),
            key: format!("{}{index}", block.key),
            segments: block.segments.clone(),
            name: format!("{}.{name}", block.prefix),
            declared,
            id,
        });
    }
}

/// The dims of a model that is no block.
pub(super) fn own_dims(model: &Model) -> Dims {
    let mut dims = Dims::default();
    for dim in &model.settings.dims {
        let value = dim.value.as_ref().and_then(|value| value.dim(&dims, &mut Report::default()));
        let value = match (dim.at_most, value) {
            (true, Some(bound)) => Some(Dim::open(dims.iter().count(), bound.size)),
            (_, value) => value,
        };
        dims.declare(&dim.name, value);
    }
    dims
}
