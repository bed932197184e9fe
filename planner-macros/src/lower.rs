//! From the written model to the planner's graph: names are looked up, types inferred and compared with what was
//! declared. A mistake in one field leaves a stand-in of its declared type, so that the others are still checked.

mod bind;
mod block;
mod call;
mod declared;
mod element;
mod index;
mod open;
mod own;
mod parts;
mod scope;
mod wording;

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use model_graph_planner::op::{self, Operator};
use model_graph_planner::{DType, Graph, Role, TensorId, Type};

use crate::ast::{self, Model, plain};
use crate::dims::{DimExpr, Dims};
use crate::error::{At, Report, list, text};
use crate::expr::{Expr, ExprKind};
use crate::names::nearest;

use scope::{Scope, State};

pub(crate) use parts::Part;

/// What is known of a model once its names are.
pub(crate) struct Lowered<'m> {
    pub(crate) graph: Graph,
    pub(crate) dims: Dims,
    /// For each field, its tensor; none after a complaint.
    pub(crate) tensors: Vec<Option<TensorId>>,
    /// Numbers that stand in expressions, as constants of the model.
    pub(crate) numbers: Vec<(TensorId, DType, f64)>,
    /// Where the crate `model-graph` is.
    pub(crate) krate: syn::Path,
    /// Fields that nothing depends on.
    pub(crate) unused: Vec<usize>,
    /// States that something reads and nothing writes.
    pub(crate) unwritten: Vec<usize>,
    /// What can be reached of the blocks.
    pub(crate) parts: Vec<Part<'m>>,
}

/// The value of an expression.
#[derive(Clone, Copy)]
enum Value {
    Number(f64),
    Tensor {
        id: TensorId,
        /// It was made by this expression and has no other name.
        fresh: bool,
    },
}

struct Lowering<'m, 'r> {
    report: &'r mut Report,
    graph: Graph,
    /// Names of extents; position 0 stands for none.
    dim_names: Vec<String>,
    /// By element type and bits.
    numbers: BTreeMap<(&'static str, u64), (TensorId, DType, f64)>,
    taken: BTreeSet<String>,
    parts: Vec<Part<'m>>,
    /// Constants of blocks, each by its block and its field: all copies have one.
    constants: BTreeMap<(*const Model, usize), TensorId>,
    scope: Scope<'m>,
}

/// Lowers every field and reports all that is wrong with them.
pub(crate) fn lower<'m>(model: &'m Model, report: &mut Report) -> Lowered<'m> {
    let mut lowering = Lowering {
        report,
        graph: Graph::new(plain(&model.name)),
        dim_names: vec![String::new()],
        numbers: BTreeMap::new(),
        taken: BTreeSet::new(),
        parts: Vec::new(),
        constants: BTreeMap::new(),
        scope: Scope::new(model, None),
    };
    lowering.declare_dims(&BTreeMap::new());
    lowering.declare_fields();
    for index in lowering.order() {
        lowering.field(index);
    }
    if !model.fields.iter().any(|field| matches!(field.role, ast::Role::Output(_) | ast::Role::Broken)) {
        lowering.report.add(&model.name, text::NO_OUTPUT);
    }
    if lowering.report.is_empty() && !model.is_open() {
        lowering.given_dims();
    }
    if lowering.report.is_empty() && model.is_open() {
        lowering.open_constants();
    }
    let tensors: Vec<Option<TensorId>> = lowering
        .scope
        .states
        .iter()
        .map(|state| match state {
            State::Done(id) => *id,
            _ => None,
        })
        .collect();
    let idle = lowering.graph.unused();
    let unused: Vec<usize> =
        (0..tensors.len()).filter(|field| tensors[*field].is_some_and(|id| idle.contains(&id))).collect();
    let fields = model.fields.iter().enumerate();
    let states = fields.filter(|(_, field)| matches!(field.role, ast::Role::State)).map(|(field, _)| field);
    let unwritten =
        states.filter(|field| !lowering.scope.writers.contains_key(field) && !unused.contains(field)).collect();
    let numbers = lowering.numbers.into_values().collect();
    let (graph, dims, parts) = (lowering.graph, lowering.scope.dims, lowering.parts);
    Lowered { graph, dims, tensors, numbers, krate: model.krate(), unused, unwritten, parts }
}

impl<'m> Lowering<'m, '_> {
    /// The tensor of a field; its expression is lowered when it is first asked for.
    fn field(&mut self, index: usize) -> Option<TensorId> {
        match self.scope.states[index] {
            State::Done(id) => return id,
            State::InWork => return None,
            State::Untouched => self.scope.states[index] = State::InWork,
        }
        let model = self.scope.model;
        let field = &model.fields[index];
        let mut declared = self.declared(&field.ty, &field.plain_name());
        if let (Some(Some(ty)), ast::Type::Tensor { dtype, .. }) = (declared, &field.ty)
            && ty.dtype.is_quantised()
            && !matches!(field.role, ast::Role::Weight { .. })
        {
            self.report
                .add(dtype, format!("only a `#[weight]` can be {}; write another element type, such as f16", ty.dtype));
            declared = Some(None);
        }
        let uses = std::mem::take(&mut self.scope.uses);
        let id = match &field.role {
            ast::Role::Input { keep } => {
                let role = if *keep { Role::KeptInput } else { Role::Input };
                self.leaf(field, role, declared)
            }
            ast::Role::Weight { .. } => self.leaf(field, Role::Weight, declared),
            ast::Role::State => {
                let id = self.leaf(field, Role::State, declared);
                self.scope.versions.extend(id.map(|id| (id, index)));
                id
            }
            ast::Role::Constant(_) | ast::Role::ConstantFill(_) => self.constant(index, declared),
            ast::Role::Node(expr) => {
                let role = if field.keep.is_some() { Role::KeptNode } else { Role::Node };
                self.result(index, role, expr, declared)
            }
            ast::Role::Output(expr) => self.result(index, Role::Output, expr, declared),
            ast::Role::Chain { operands, binds } => self.chain(index, operands, binds),
            ast::Role::Broken => None,
        };
        self.scope.uses = uses;
        let id = self.fixed_role(index, id);
        self.part(index, id);
        // A stand-in of the declared type: what depends on this field can still be checked.
        let name = self.full(&field.plain_name());
        let id = id.or_else(|| self.graph.leaf(name, Role::Node, declared.flatten()?).ok());
        self.scope.states[index] = State::Done(id);
        id
    }

    /// A field that an expression makes.
    fn result(&mut self, index: usize, role: Role, expr: &Expr, declared: Option<Option<Type>>) -> Option<TensorId> {
        let model = self.scope.model;
        let field = &model.fields[index];
        let name = field.plain_name();
        self.scope.path.push(index);
        let value = match &expr.kind {
            ExprKind::Block { block, operands, given } if !self.calls(block) => {
                self.block(block, operands, given, &name, true)
            }
            _ => self.expr(expr, &name),
        };
        self.scope.path.pop();
        let value = value?;
        // What a block gives is a part of the expression that it stands in.
        let role = if role == Role::Output && self.scope.block.is_some() { Role::Node } else { role };
        let id = match value {
            Value::Tensor { id, fresh: false } if role == Role::Node && self.gives(index) => id,
            value => self.named_result(&name, role, value, expr.at)?,
        };
        if self.gives(index) {
            self.give(Value::Tensor { id, fresh: !matches!(value, Value::Tensor { fresh: false, .. }) });
        }
        let inferred = self.graph.tensor(id).ty;
        match (declared, &field.ty) {
            (Some(Some(declared)), _) if declared == inferred => self.graph.redeclare(id, declared),
            (Some(Some(declared)), ast::Type::Tensor { at, .. }) => {
                let (given, found) = (self.type_text(&declared), self.type_text(&inferred));
                // What a window leaves a rest of can be inferred and not written.
                let rest = inferred.shape.dims().iter().any(|dim| dim.formula.is_some_and(|formula| formula.over > 1));
                let instead = if rest { "`_`" } else { "that, or `_`" };
                self.report.add(
                    *at,
                    format!("`{name}` is declared as {given} and its expression gives {found}; write {instead}"),
                );
                return None;
            }
            _ => {}
        }
        Some(id)
    }

    /// A value as the tensor of a name.
    fn named_result(&mut self, name: &str, role: Role, value: Value, at: At) -> Option<TensorId> {
        let name = self.full(name);
        let id = match value {
            // A version of a state stays one; what is to be read after the forward looks at it.
            Value::Tensor { id, fresh: true } if role == Role::Node || self.graph.tensor(id).role != Role::State => {
                self.graph.rename(id, name, role);
                return Some(id);
            }
            Value::Tensor { id, .. } => id,
            Value::Number(number) => self.number(number, DType::F32, None, at)?,
        };
        let ty = self.graph.tensor(id).ty;
        if ty.dtype.is_quantised() {
            let text = format!("a weight of {} cannot be handed on as it is; write `… as f32`", ty.dtype);
            self.report.add(at, text);
            return None;
        }
        self.graph.node(name, role, Rc::new(op::Identity {}), &[id]).ok()
    }

    fn expr(&mut self, expr: &Expr, name: &str) -> Option<Value> {
        match &expr.kind {
            ExprKind::Number(number) => Some(Value::Number(*number)),
            ExprKind::Name(ident) => self.name(ident),
            ExprKind::Cast { of, dtype } => self.cast(of, dtype, name),
            ExprKind::Block { block, operands, given } if self.calls(block) => {
                self.own_call(expr.at, block, operands, given, name)
            }
            ExprKind::Block { block, operands, given } => self.block(block, operands, given, name, false),
            ExprKind::Index { of, ranges } => self.index(of, ranges, name),
            ExprKind::Call { name: at, op, operands, named, settings } => {
                let arguments = call::Arguments { operands, named, settings };
                self.call(expr, *at, op, &arguments, name)
            }
        }
    }

    fn name(&mut self, ident: &proc_macro2::Ident) -> Option<Value> {
        let name = plain(ident);
        if let Some(&index) = self.scope.fields.get(&name) {
            // A state is what the last field before this one made of it.
            let field = self.scope.path.last().copied();
            let writer = field.and_then(|field| self.scope.writer_before(index, field));
            let (state, index) = (index, writer.unwrap_or(index));
            if self.scope.states[index] == State::InWork {
                let start = self.scope.path.iter().position(|field| *field == index).unwrap_or(0);
                let around: Vec<String> = self.scope.path[start..]
                    .iter()
                    .chain([&index])
                    .map(|field| self.scope.model.fields[*field].plain_name())
                    .collect();
                let what = match writer {
                    Some(writer) => {
                        format!("`{name}`, as `{}` writes it,", self.scope.model.fields[writer].plain_name())
                    }
                    None => format!("`{name}`"),
                };
                let advice = match self.scope.late(&self.scope.path[start..]) {
                    Some((late, writer, state)) => format!(
                        "`{late}` stands below `{writer}` and so reads `{state}` as `{writer}` writes it; put it above \
                         `{writer}` to read what the last forward left"
                    ),
                    None => String::from("let one of them depend on something else"),
                };
                self.report.add(ident, format!("{what} depends on itself: {}; {advice}", around.join(" <- ")));
                return None;
            }
            let id = self.field(index);
            let id = match writer {
                Some(writer) => self.scope.written.get(&(state, writer)).copied().or_else(|| self.field(state)),
                None => id,
            };
            return id.map(|id| Value::Tensor { id, fresh: false });
        }
        if self.scope.dims.contains(ident) {
            // A number in an expression is a constant of the model.
            let size = DimExpr::name(ident.clone()).value(&self.scope.dims, self.report)?;
            return Some(Value::Number(size as f64));
        }
        if self.scope.dims.may_contain(ident) && !name.contains(char::is_lowercase) {
            return None;
        }
        if op::find(&name).is_some() {
            self.report.add(ident, format!("`{name}` is an operator; give it its operands: `{name}(…)`"));
            return None;
        }
        let known: Vec<&str> = self.scope.fields.keys().map(String::as_str).collect();
        let advice = match nearest(&name, known.iter().copied()) {
            Some(near) => format!("did you mean `{near}`?"),
            // A name as types have them.
            None if name.starts_with(char::is_uppercase) && name.contains(char::is_lowercase) => {
                format!("a block or an operator of one's own is given what it takes: `{name}(…)`")
            }
            None if known.len() <= 12 => format!("there are {}", list(&known)),
            None => String::from("declare a field of that name"),
        };
        self.report.add(ident, format!("there is no tensor `{name}`; {advice}"));
        None
    }

    /// Adds a node under a name made of the field's and the operator's.
    fn node(&mut self, field: &str, op: Rc<dyn Operator>, inputs: &[TensorId]) -> Result<Value, op::RuleError> {
        let name = self.fresh_name(field, op.name());
        let id = self.graph.node(name, Role::Node, op, inputs)?;
        self.graph.set_inner(id);
        Ok(Value::Tensor { id, fresh: true })
    }

    /// A name that no tensor and no block has, made of a field's and of what it is for.
    fn fresh_name(&mut self, field: &str, what: &str) -> String {
        let field = self.full(field);
        let mut name = format!("{field}.{what}");
        let mut count = 1;
        while !self.taken.insert(name.clone()) {
            count += 1;
            name = format!("{field}.{what}.{count}");
        }
        name
    }
}
