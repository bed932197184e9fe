//! Other models as parts of this one: their dims are bound, their inputs take the operands, and their fields are lowered
//! in a scope of their own, as if they had been written here under names that start with the field's.

use std::collections::BTreeMap;
use std::rc::Rc;

use model_graph_planner::{DType, Dim, Role, TensorId, Type};
use proc_macro2::Ident;
use syn::Path;

use super::call::{Operand, operand_text};
use super::parts::own_dims;
use super::wording::cast;
use super::{Lowering, Scope, State, Value};
use crate::ast::{self, Block, BlockRef, Model};
use crate::dims::{DimExpr, Dims};
use crate::error::{At, Report, list, text};
use crate::expr::{Expr, Given};

/// A dim of a block and what it is bound to.
pub(super) type Bind = (Ident, DimExpr);

/// How a block is used.
pub(super) struct Use {
    pub(super) at: At,
    /// The names of its tensors start with this and a dot.
    pub(super) prefix: String,
    pub(super) segments: Vec<Segment>,
    pub(super) root: Rc<Root>,
    /// What the names of its constants start with, after [`Root::key`].
    pub(super) key: String,
    /// The dims as they are where the block stands.
    pub(super) own: Dims,
    /// What is wrong with the use rather than with the block.
    complaints: Report,
    output: Option<Value>,
}

/// A block of the outermost model.
pub(crate) struct Root {
    /// The block's path, as written there.
    pub(crate) path: Path,
    /// Position of the field that it stands in.
    pub(crate) field: usize,
    /// What the names of its constants start with.
    pub(crate) key: String,
}

/// One step of the way to a block.
#[derive(Clone)]
pub(crate) struct Segment {
    /// The field, or the field and the block when there is more in its expression.
    pub(crate) name: String,
    /// Which copy of how many, in a chain.
    pub(crate) copy: Option<(usize, usize)>,
}

/// How many tensors a model can have and another copy of a block still be added. A network of hundreds of layers stays far
/// below; a number that was mistyped does not keep the compiler busy for hours.
const MOST_TENSORS: usize = 20_000;

/// A use of a block that may be made many copies of.
struct Setup<'a, 'm> {
    block: &'a BlockRef,
    /// What the attribute of a chain binds.
    binds: &'a [Bind],
    model: &'m Model,
    dims: BTreeMap<String, Option<Dim>>,
    /// Number of the use within its field.
    number: usize,
    field: usize,
}

impl<'m> Lowering<'m, '_> {
    /// The name of a tensor of this scope in the whole model.
    pub(super) fn full(&self, name: &str) -> String {
        match &self.scope.block {
            Some(block) => format!("{}.{name}", block.prefix),
            None => String::from(name),
        }
    }

    /// A block within the expression of a field; `whole` when it is all of the expression.
    pub(super) fn block(
        &mut self,
        block: &BlockRef,
        operands: &[Expr],
        given: &[Given],
        field: &str,
        whole: bool,
    ) -> Option<Value> {
        let index = self.scope.fields.get(field).copied()?;
        // Of what is broken where it stands nobody knows whether it has settings.
        let model = self.scope.model.blocks.get(&block.key()).and_then(|block| block.model.as_ref());
        if let (Some(model), Some(given)) = (model, given.first()) {
            match self.named_input(&given.name, block, model) {
                Some(text) => {
                    self.report.add(&given.name, text);
                    return None;
                }
                None => self.report.add(&given.name, text::BLOCK_SETTING),
            }
        }
        let operands = self.operands(operands, field);
        let setup = self.setup(block, &[], &operands, index)?;
        let name = if whole { String::from(field) } else { self.nested_name(field, &block.name()) };
        self.inline(&setup, &operands, Segment { name, copy: None })
    }

    /// Copies of a block, each given what the one before it gave.
    pub(super) fn chain(&mut self, index: usize, operands: &[Expr], binds: &[Bind]) -> Option<TensorId> {
        let model = self.scope.model;
        let field = &model.fields[index];
        let name = field.plain_name();
        self.scope.path.push(index);
        let mut operands = self.operands(operands, &name);
        self.scope.path.pop();
        let ast::Type::Chain { block, count } = &field.ty else { return None };
        let copies = count.value(&self.scope.dims, self.report);
        if copies == Some(0) {
            self.report.add(count.at, text::COPIES);
        }
        let setup = self.setup(block, binds, &operands, index)?;
        let mut value = None;
        // Of a chain that nothing is known of yet, one copy is looked at all the same.
        for copy in 0..copies.unwrap_or(1) {
            if let Some(Value::Tensor { id, fresh: true }) = value {
                self.graph.rename(id, self.full(&format!("{name}.{}", copy - 1)), Role::Node);
            }
            if self.graph.tensors().count() > MOST_TENSORS {
                self.report.add(count.at, text::TOO_MANY_COPIES);
                return None;
            }
            let complaints = self.report.len();
            let segment = Segment { name: name.clone(), copy: Some((copy, copies.unwrap_or(1))) };
            let given = self.inline(&setup, &operands, segment);
            // The other copies would say the same.
            if self.report.len() > complaints {
                return None;
            }
            let (Some(Value::Tensor { id, .. }), Some(through)) = (given, &mut operands[0]) else { return None };
            let (takes, gives) = (self.graph.tensor(through.id).ty, self.graph.tensor(id).ty);
            through.id = id;
            if gives != takes {
                self.misfit(&setup, &takes, &gives);
                return None;
            }
            value = given;
        }
        copies?;
        let role = if field.keep.is_some() { Role::KeptNode } else { Role::Node };
        self.named_result(&name, role, value?, block.at)
    }

    fn misfit(&mut self, setup: &Setup<'_, 'm>, takes: &Type, gives: &Type) {
        let input = inputs(setup.model).next().map(|(_, field)| field.plain_name()).unwrap_or_default();
        let text = format!(
            "copies of `{}` cannot follow each other: each takes {} as `{input}` and gives {}; a chain needs a block that \
             gives what it takes",
            setup.block.name(),
            self.type_text(takes),
            self.type_text(gives)
        );
        self.report.add(setup.block.at, text);
    }

    /// The operands' tensors; none for those that are wrong.
    fn operands(&mut self, operands: &[Expr], field: &str) -> Vec<Option<Operand>> {
        let mut resolve = |operand: &Expr| {
            let id = match self.expr(operand, field)? {
                Value::Tensor { id, .. } => id,
                Value::Number(number) => self.number(number, DType::F32, None, operand.at)?,
            };
            Some(Operand { at: operand.at, text: operand_text(operand), id })
        };
        operands.iter().map(&mut resolve).collect()
    }

    /// Finds the block, binds its dims and compares what it takes with what it is given.
    fn setup<'a>(
        &mut self,
        block: &'a BlockRef,
        binds: &'a [Bind],
        operands: &[Option<Operand>],
        field: usize,
    ) -> Option<Setup<'a, 'm>> {
        let number = self.scope.uses;
        self.scope.uses += 1;
        let outer = self.scope.model;
        let name = block.name();
        if self.calls(block) {
            let text = format!(
                "`{name}` is an operator, and a chain has copies of a block; put it into one: a `#[model_graph]` struct with \
                 `#[output({name}(…))]`"
            );
            self.report.add(block.at, text);
            return None;
        }
        let model = match outer.blocks.get(&block.key()) {
            Some(Block { model: Some(model), sound: true }) => model,
            // It was complained of where it stands.
            Some(_) => {
                self.report.hush();
                return None;
            }
            None => {
                let text = format!("`{name}` would contain itself, without end; compose it of other models");
                self.report.add(block.at, text);
                return None;
            }
        };
        let outputs: Vec<String> = model
            .fields
            .iter()
            .filter(|field| matches!(field.role, ast::Role::Output(_)))
            .map(ast::Field::plain_name)
            .collect();
        if outputs.len() != 1 {
            let names: Vec<&str> = outputs.iter().map(String::as_str).collect();
            let text = format!(
                "`{name}` has {} outputs ({}), and a block gives one tensor; make it a block for each of them",
                outputs.len(),
                list(&names)
            );
            self.report.add(block.at, text);
            return None;
        }
        let dims = self.bind(block, binds, model);
        let wanted: Vec<String> = inputs(model).map(|(_, field)| field.plain_name()).collect();
        let mut binds_of_all = block.binds.iter().chain(binds);
        let by_name = binds_of_all.any(|(dim, _)| self.named_input(dim, block, model).is_some());
        if wanted.len() != operands.len() && !by_name {
            let names: Vec<&str> = wanted.iter().map(String::as_str).collect();
            let takes = match wanted.len() {
                0 => String::from("no input"),
                1 => format!("one input ({})", list(&names)),
                count => format!("{count} inputs ({})", list(&names)),
            };
            let given = match operands.len() {
                0 => String::from("none is given"),
                1 => String::from("one is given"),
                count => format!("{count} are given"),
            };
            self.report.add(block.at, format!("`{name}` takes {takes} and {given}"));
            return None;
        }
        Some(Setup { block, binds, model, dims: dims?, number, field })
    }

    /// Lowers the block's fields under the names of `segment`.
    fn inline(&mut self, setup: &Setup<'_, 'm>, operands: &[Option<Operand>], segment: Segment) -> Option<Value> {
        let prefix = match segment.copy {
            Some((copy, _)) => self.full(&format!("{}.{copy}", segment.name)),
            None => self.full(&segment.name),
        };
        let number = format!("{}_{}_", setup.field, setup.number);
        let (root, key, mut segments) = match &self.scope.block {
            Some(outer) => (outer.root.clone(), format!("{}{number}", outer.key), outer.segments.clone()),
            None => {
                let root = Root { path: setup.block.path.clone(), field: setup.field, key: number };
                (Rc::new(root), String::new(), Vec::new())
            }
        };
        segments.push(segment);
        let block = Use {
            at: setup.block.at,
            prefix: prefix.clone(),
            segments,
            root,
            key,
            own: own_dims(setup.model),
            complaints: Report::default(),
            output: None,
        };
        let first = self.report.len();
        let origins = self.through(setup.block);
        let outer = std::mem::replace(&mut self.scope, Scope { origins, ..Scope::new(setup.model, Some(block)) });
        self.declare_dims(&setup.dims);
        self.declare_fields();
        for ((index, field), operand) in inputs(setup.model).zip(operands) {
            self.input(index, field, operand.as_ref());
        }
        for index in self.order() {
            self.field(index);
        }
        let inner = std::mem::replace(&mut self.scope, outer);
        let dims: Vec<String> = setup.block.binds.iter().chain(setup.binds).map(|(dim, _)| dim.to_string()).collect();
        let dims = inner.dims.iter().filter(|(dim, _)| dims.contains(&dim.to_string()));
        let dims: Vec<String> = dims.map(|(dim, value)| format!("{dim} = {}", self.extent_text(*value))).collect();
        let dims = if dims.is_empty() { String::new() } else { format!(", with {}", dims.join(", ")) };
        let name = setup.block.name();
        self.report.note(first, &format!("; `{name}` is used as `{prefix}` of `{}`{dims}", self.graph.name));
        let block = inner.block?;
        self.report.append(block.complaints);
        block.output
    }

    /// Gives an input its operand or, where that does not fit, a stand-in: what depends on it is still checked.
    fn input(&mut self, index: usize, field: &ast::Field, operand: Option<&Operand>) {
        let name = field.plain_name();
        let declared = self.declared(&field.ty, &name).flatten();
        let given = operand.map(|operand| (operand, self.graph.tensor(operand.id).ty));
        let id = match (declared, given) {
            (Some(declared), Some((operand, given))) if declared == given => Some(operand.id),
            (Some(declared), given) => {
                if let Some((operand, given)) = given {
                    let (takes, gives) = (self.type_text(&declared), self.type_text(&given));
                    let block = plain_name(self.scope.model);
                    let advice = match declared.shape == given.shape {
                        true if declared.dtype.is_quantised() => String::new(),
                        true => format!("; write {}", cast(&operand.text, declared.dtype.name())),
                        false => self.bind_advice(field, &declared, &given),
                    };
                    let text = format!(
                        "`{block}` takes {takes} as its input `{name}`, and {} is {gives}{advice}",
                        operand.text
                    );
                    self.complain_of_use(operand.at, text);
                }
                self.graph.leaf(self.full(&name), Role::Node, declared).ok()
            }
            (None, _) => None,
        };
        self.scope.states[index] = State::Done(id);
    }

    /// Complains of how the block is used, rather than of the block.
    pub(super) fn complain_of_use(&mut self, at: At, text: String) {
        if let Some(block) = &mut self.scope.block {
            block.complaints.add(at, text);
        }
    }

    /// True when the field is the output of the block that is lowered.
    pub(super) fn gives(&self, index: usize) -> bool {
        self.scope.block.is_some() && matches!(self.scope.model.fields[index].role, ast::Role::Output(_))
    }

    /// Remembers the block's output.
    pub(super) fn give(&mut self, value: Value) {
        if let Some(block) = &mut self.scope.block {
            block.output = Some(value);
        }
    }

    /// The name of a block that is a part of a field's expression.
    fn nested_name(&mut self, field: &str, block: &str) -> String {
        let name = self.fresh_name(field, &snake(block));
        let before = self.full("").len();
        name[before..].into()
    }
}

pub(super) fn inputs(model: &Model) -> impl Iterator<Item = (usize, &ast::Field)> {
    model.fields.iter().enumerate().filter(|(_, field)| matches!(field.role, ast::Role::Input { .. }))
}

pub(super) fn plain_name(model: &Model) -> String {
    ast::plain(&model.name)
}

/// `layer_norm` as `LayerNorm`.
pub(super) fn camel(name: &str) -> String {
    name.split('_')
        .flat_map(|word| word.chars().take(1).flat_map(char::to_uppercase).chain(word.chars().skip(1)))
        .collect()
}

/// `LayerNorm` as `layer_norm`.
pub(super) fn snake(name: &str) -> String {
    let mut snake = String::new();
    for letter in name.chars() {
        if letter.is_uppercase() && !snake.is_empty() && !snake.ends_with('_') {
            snake.push('_');
        }
        snake.extend(letter.to_lowercase());
    }
    snake
}
