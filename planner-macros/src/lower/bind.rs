//! The dims of blocks: what they are bound to where a block is used, and what to bind where they do not fit.

use std::collections::BTreeMap;

use model_graph_planner::{Dim, Type};
use proc_macro2::Ident;

use super::Lowering;
use super::block::{Bind, inputs};
use crate::ast::{self, BlockRef, Model, plain};
use crate::error::{Report, list, suggestion};
use crate::names::nearest;

impl Lowering<'_, '_> {
    /// The values that the block's dims are bound to.
    pub(super) fn bind(
        &mut self,
        block: &BlockRef,
        binds: &[Bind],
        model: &Model,
    ) -> Option<BTreeMap<String, Option<Dim>>> {
        let name = block.name();
        let known: Vec<String> = model.settings.dims.iter().map(|dim| dim.name.to_string()).collect();
        let known: Vec<&str> = known.iter().map(String::as_str).collect();
        let mut bound = BTreeMap::new();
        let mut fine = true;
        for (dim, value) in block.binds.iter().chain(binds) {
            let plain = dim.to_string();
            // Of what is no dim the value is nothing to complain of.
            let mut quiet = Report::default();
            let report = if known.contains(&plain.as_str()) { &mut *self.report } else { &mut quiet };
            let value = value.dim(&self.scope.dims, report);
            if !known.contains(&plain.as_str()) {
                let advice = suggestion(nearest(&plain, known.iter().copied()), &known);
                let input = self.named_input(dim, block, model);
                self.report.add(dim, input.unwrap_or_else(|| format!("`{name}` has no dim `{plain}`; {advice}")));
                fine = false;
            } else if bound.insert(plain, value).is_some() {
                self.report.add(dim, format!("`{dim}` is bound twice; bind it once"));
                fine = false;
            }
        }
        let open =
            model.settings.dims.iter().filter(|dim| dim.value.is_none() || dim.at_most).map(|dim| dim.name.to_string());
        let open: Vec<String> = open.filter(|dim| !bound.contains_key(dim)).collect();
        if !open.is_empty() {
            self.report.add(block.at, self.left_open(block, &open));
            fine = false;
        }
        fine.then_some(bound)
    }

    /// What to say of an input that is given by name.
    pub(super) fn named_input(&self, given: &Ident, block: &BlockRef, model: &Model) -> Option<String> {
        let names: Vec<String> = inputs(model).map(|(_, field)| field.plain_name()).collect();
        let given = plain(given);
        names.contains(&given).then(|| {
            format!(
                "`{given}` is an input of `{}`, and inputs are given in their order, without their names: {}",
                block.name(),
                list(&names.iter().map(String::as_str).collect::<Vec<&str>>())
            )
        })
    }

    fn left_open(&self, block: &BlockRef, open: &[String]) -> String {
        let name = block.name();
        let names: Vec<&str> = open.iter().map(String::as_str).collect();
        let (dims, them) = if open.len() == 1 { ("dim", "it") } else { ("dims", "them") };
        let binds: Vec<String> = open.iter().map(|dim| format!("{dim} = …")).collect();
        let binds = binds.join(", ");
        let chain =
            |field: &ast::Field| matches!(&field.ty, ast::Type::Chain { block: of, .. } if std::ptr::eq(of, block));
        let bind = match self.scope.model.fields.iter().any(chain) {
            true => format!("#[chain(…, {binds})]"),
            false => format!("{name}<{binds}>"),
        };
        format!("`{name}` leaves the {dims} {} to its user; bind {them}: `{bind}`", list(&names))
    }

    /// To which extents the dims of this block would have to be bound for an input to be what it is given.
    pub(super) fn bind_advice(&self, field: &ast::Field, declared: &Type, given: &Type) -> String {
        let ast::Type::Tensor { dims, .. } = &field.ty else { return String::new() };
        if declared.shape.rank() != given.shape.rank() {
            return String::new();
        }
        let sides = declared.shape.dims().iter().zip(given.shape.dims());
        let mut binds: Vec<String> = Vec::new();
        for (dim, (_, given)) in dims.iter().zip(sides).filter(|(_, (declared, given))| declared != given) {
            if !dim.is_name() {
                return String::new();
            }
            let bind = format!("`{} = {}`", dim.text(), self.extent_text(given.named(0)));
            if !binds.contains(&bind) {
                binds.push(bind);
            }
        }
        format!("; bind {}", binds.join(" and "))
    }
}
