//! Where names are looked up, and in which order the fields are lowered.

use std::collections::{BTreeMap, BTreeSet};

use model_graph_planner::{Dim, TensorId};

use super::{Lowering, block};
use crate::ast::{self, Model, plain};
use crate::dims::Dims;
use crate::error::text;
use crate::expr::{Expr, ExprKind};

/// How many open dims the runtime keeps room for.
const MOST_OPEN: usize = 8;

#[derive(Clone, Copy, PartialEq)]
pub(super) enum State {
    Untouched,
    InWork,
    Done(Option<TensorId>),
}

/// Where names are looked up: in the model or, while a block is lowered, in the block.
pub(super) struct Scope<'m> {
    pub(super) model: &'m Model,
    pub(super) dims: Dims,
    pub(super) fields: BTreeMap<String, usize>,
    /// For each state, by its field, the fields that write it, in their order.
    pub(super) writers: BTreeMap<usize, BTreeSet<usize>>,
    /// The states and their versions so far, each with the state's field.
    pub(super) versions: BTreeMap<TensorId, usize>,
    /// What a state is once a field has written it.
    pub(super) written: BTreeMap<(usize, usize), TensorId>,
    pub(super) states: Vec<State>,
    /// Fields whose expressions are being lowered, outermost first.
    pub(super) path: Vec<usize>,
    /// How many blocks the field's expression has had so far.
    pub(super) uses: usize,
    /// Of a block, how it is used.
    pub(super) block: Option<block::Use>,
    /// Which of the outermost model's [`origins`](Model::origins) each of this model's is.
    pub(super) origins: Vec<usize>,
}

impl<'m> Scope<'m> {
    pub(super) fn new(model: &'m Model, block: Option<block::Use>) -> Scope<'m> {
        Scope {
            model,
            dims: Dims::new(model.settings.dims_unknown),
            fields: BTreeMap::new(),
            writers: BTreeMap::new(),
            versions: BTreeMap::new(),
            written: BTreeMap::new(),
            states: vec![State::Untouched; model.fields.len()],
            path: Vec::new(),
            uses: 0,
            block,
            origins: (0..model.origins().len()).collect(),
        }
    }
}

impl Scope<'_> {
    /// Finds which fields write which states, by their expressions alone.
    fn find_writers(&mut self) {
        let mut writers: BTreeMap<usize, BTreeSet<usize>> = BTreeMap::new();
        for (index, field) in self.model.fields.iter().enumerate() {
            for expr in field.role.exprs() {
                expr.writes(&mut |written| {
                    if let Some(state) = self.state_of(written) {
                        writers.entry(state).or_default().insert(index);
                    }
                });
            }
        }
        self.writers = writers;
    }

    /// The state that an expression names, or writes.
    fn state_of(&self, expr: &Expr) -> Option<usize> {
        let mut expr = expr;
        // Fields that write one another in a circle are complained of elsewhere.
        for _ in 0..=self.model.fields.len() + crate::expr::MAX_DEPTH {
            if let Some(written) = expr.written() {
                expr = written;
                continue;
            }
            let ExprKind::Name(name) = &expr.kind else { return None };
            let field = *self.fields.get(&plain(name))?;
            match &self.model.fields[field].role {
                ast::Role::State => return Some(field),
                ast::Role::Node(made) | ast::Role::Output(made) if made.written().is_some() => expr = made,
                _ => return None,
            }
        }
        None
    }

    /// The last field before `index` that writes that state.
    pub(super) fn writer_before(&self, state: usize, index: usize) -> Option<usize> {
        self.writers.get(&state)?.range(..index).next_back().copied()
    }

    /// Of fields that depend on one another, one that reads a state below the field that writes it: its name, the
    /// writer's and the state's.
    pub(super) fn late(&self, fields: &[usize]) -> Option<(String, String, String)> {
        let name = |field: usize| self.model.fields[field].plain_name();
        fields.iter().find_map(|late| {
            self.mentioned(*late).into_iter().find_map(|state| {
                let writer = self.writer_before(state, *late).filter(|writer| fields.contains(writer))?;
                Some((name(*late), name(writer), name(state)))
            })
        })
    }

    /// The fields that a field's expressions name.
    fn mentioned(&self, index: usize) -> Vec<usize> {
        let mut fields = Vec::new();
        for expr in self.model.fields[index].role.exprs() {
            expr.names(&mut |name| fields.extend(self.fields.get(&plain(name)).copied()));
        }
        fields
    }
}

impl Lowering<'_, '_> {
    /// Declares the dims, those in `bound` with the value that they are bound to.
    pub(super) fn declare_dims(&mut self, bound: &BTreeMap<String, Option<Dim>>) {
        let model = self.scope.model;
        let dims = model.settings.dims.iter().map(|dim| dim.name.to_string()).collect();
        let tensors = model.fields.iter().map(|field| field.name.to_string()).collect();
        self.scope.dims.foresee(dims, tensors);
        for dim in &model.settings.dims {
            if self.scope.dims.contains(&dim.name) {
                self.report.add(&dim.name, format!("dim `{}` is declared twice; declare it once", dim.name));
                continue;
            }
            let value = match (bound.get(&dim.name.to_string()), &dim.value) {
                (Some(bound), _) => bound.and_then(|bound| self.within(dim, bound)),
                (None, Some(most)) if dim.at_most => {
                    let at = most.at;
                    let most = most.value(&self.scope.dims, self.report);
                    if most == Some(0) {
                        let text = format!("`{}` would have no value: it is at least 1; {}", dim.name, text::DIM_BOUND);
                        self.report.add(at, text);
                    }
                    if self.graph.open_dims().len() == MOST_OPEN {
                        self.report
                            .add(&dim.name, format!("a model has at most {MOST_OPEN} open dims; fix some of them"));
                        None
                    } else {
                        most.filter(|most| *most > 0).map(|most| self.graph.open(plain(&dim.name), most))
                    }
                }
                (None, Some(value)) => value.dim(&self.scope.dims, self.report),
                (None, None) => None,
            };
            self.scope.dims.declare(&dim.name, value);
        }
    }

    /// What a block's dim is bound to, when that is within the bound of one that is open in the block.
    fn within(&mut self, dim: &ast::DimDecl, given: Dim) -> Option<Dim> {
        let most = match &dim.value {
            Some(most) if dim.at_most => most.value(&self.scope.dims, self.report)?,
            _ => return Some(given),
        };
        if !given.at_most(Dim::new(most)) || !Dim::new(1).at_most(given) {
            let (block, text) = (block::plain_name(self.scope.model), self.extent_text(given));
            let at = self.scope.block.as_ref().map(|block| block.at);
            let up_to = if given.is_open() { format!(", which goes up to {}", given.size) } else { String::new() };
            let text = format!(
                "`{block}` takes `{}` from 1 to {most}, and it is bound to {text}{up_to}; bind it to less, or declare \
                 `dims({} <= n)` with more in `{block}`",
                dim.name, dim.name
            );
            at.into_iter().for_each(|at| self.complain_of_use(at, text.clone()));
            return None;
        }
        Some(given)
    }

    /// Complains of open dims that no input gives a value.
    pub(super) fn given_dims(&mut self) {
        let model = self.scope.model;
        for (index, dim) in model.varying().enumerate() {
            let follows = |state: &State| match state {
                State::Done(Some(id)) => {
                    let dims = self.graph.tensor(*id).ty.shape;
                    dims.dims().iter().any(|dim| dim.formula.is_some_and(|formula| formula.dim == index))
                }
                _ => false,
            };
            let mut inputs = model
                .fields
                .iter()
                .zip(&self.scope.states)
                .filter(|(field, _)| matches!(field.role, ast::Role::Input { .. }));
            if !inputs.any(|(_, state)| follows(state)) {
                let name = &dim.name;
                let text = format!(
                    "`{name}` never gets a value: no input has it as an extent; write it in the type of an `#[input]`, or \
                     `dims({name} = n)`"
                );
                self.report.add(name, text);
            }
        }
    }

    /// Complains of constants that cannot be worked out where the model stands.
    pub(super) fn open_constants(&mut self) {
        let model = self.scope.model;
        for (field, state) in model.fields.iter().zip(&self.scope.states) {
            let constant = matches!(field.role, ast::Role::Constant(_) | ast::Role::ConstantFill(_));
            if constant && *state == State::Done(None) {
                self.report.add(&field.name, text::OPEN_CONSTANT);
            }
        }
    }

    pub(super) fn declare_fields(&mut self) {
        let model = self.scope.model;
        for (index, field) in model.fields.iter().enumerate() {
            let name = field.plain_name();
            if self.scope.dims.contains(&field.name) {
                self.report.add(&field.name, format!("`{name}` is a dim already; give the tensor another name"));
            }
            if self.scope.fields.contains_key(&name) {
                self.report.add(&field.name, format!("there are two tensors called `{name}`; give one another name"));
                continue;
            }
            self.taken.insert(self.full(&name));
            self.scope.fields.insert(name, index);
        }
        self.scope.find_writers();
    }

    /// The fields, each after those that its expression names, otherwise as declared. Lowering alone would find this
    /// order too, but it recurses, and a network declared last to first would take a stack as deep as itself.
    pub(super) fn order(&self) -> Vec<usize> {
        let mut order = Vec::with_capacity(self.scope.model.fields.len());
        let mut seen = vec![false; self.scope.model.fields.len()];
        for start in 0..self.scope.model.fields.len() {
            // Fields whose expressions are being looked through, each with the names in it that are still to come.
            let mut open: Vec<(usize, Vec<usize>)> = Vec::new();
            let mut next = Some(start);
            loop {
                match next {
                    Some(index) if !std::mem::replace(&mut seen[index], true) => open.push((index, self.named(index))),
                    _ => {}
                }
                let Some((index, rest)) = open.last_mut() else { break };
                next = rest.pop();
                if next.is_none() {
                    order.push(*index);
                    open.pop();
                }
            }
        }
        order
    }

    /// The fields that have to come before a field, last to first: those that its expression names, those that wrote the
    /// states in it, and for a state that it writes itself those that read what that was before.
    fn named(&self, index: usize) -> Vec<usize> {
        let mut names = Vec::new();
        for field in self.scope.mentioned(index) {
            names.push(field);
            names.extend(self.scope.writer_before(field, index));
        }
        for (state, _) in self.scope.writers.iter().filter(|(_, writers)| writers.contains(&index)) {
            let since = self.scope.writer_before(*state, index).unwrap_or(0);
            names.extend((since..index).filter(|field| self.scope.mentioned(*field).contains(state)));
        }
        names.reverse();
        names
    }
}
