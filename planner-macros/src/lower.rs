//! From the written model to the planner's graph: names are looked up, types inferred and compared with what was
//! declared. A mistake in one field leaves a stand-in of its declared type, so that the others are still checked.

mod call;
mod wording;

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use model_graph_planner::op::{self, Operator};
use model_graph_planner::{DType, Dim, Graph, MAX_RANK, Role, Shape, TensorId, Type};

use crate::ast::{self, Model, plain};
use crate::dims::{DimExpr, Dims};
use crate::error::{At, Report, list, suggestion, text};
use crate::expr::{Expr, ExprKind};
use crate::names::nearest;

/// What is known of a model once its names are.
pub(crate) struct Lowered {
    pub(crate) graph: Graph,
    pub(crate) dims: Dims,
    /// For each field, its tensor; none after a complaint.
    pub(crate) tensors: Vec<Option<TensorId>>,
    /// Numbers that stand in expressions, as constants of the model.
    pub(crate) numbers: Vec<(TensorId, f32)>,
    /// Fields that nothing depends on.
    pub(crate) unused: Vec<usize>,
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

#[derive(Clone, Copy, PartialEq)]
enum State {
    Untouched,
    InWork,
    Done(Option<TensorId>),
}

struct Lowering<'m, 'r> {
    model: &'m Model,
    report: &'r mut Report,
    dims: Dims,
    graph: Graph,
    /// Names of extents; position 0 stands for none.
    dim_names: Vec<String>,
    fields: BTreeMap<String, usize>,
    states: Vec<State>,
    /// Fields whose expressions are being lowered, outermost first.
    path: Vec<usize>,
    numbers: BTreeMap<u32, TensorId>,
    taken: BTreeSet<String>,
}

/// Lowers every field and reports all that is wrong with them.
pub(crate) fn lower(model: &Model, report: &mut Report) -> Lowered {
    let mut lowering = Lowering {
        model,
        report,
        dims: Dims::new(model.settings.dims_unknown),
        graph: Graph::new(plain(&model.name)),
        dim_names: vec![String::new()],
        fields: BTreeMap::new(),
        states: vec![State::Untouched; model.fields.len()],
        path: Vec::new(),
        numbers: BTreeMap::new(),
        taken: BTreeSet::new(),
    };
    lowering.declare_dims();
    lowering.declare_fields();
    for index in lowering.order() {
        lowering.field(index);
    }
    if !model.fields.iter().any(|field| matches!(field.role, ast::Role::Output(_) | ast::Role::Broken)) {
        lowering.report.add(&model.name, text::NO_OUTPUT);
    }
    let tensors: Vec<Option<TensorId>> = lowering
        .states
        .iter()
        .map(|state| match state {
            State::Done(id) => *id,
            _ => None,
        })
        .collect();
    let idle = lowering.graph.unused();
    let unused = (0..tensors.len()).filter(|field| tensors[*field].is_some_and(|id| idle.contains(&id))).collect();
    let numbers = lowering.numbers.iter().map(|(bits, id)| (*id, f32::from_bits(*bits))).collect();
    Lowered { graph: lowering.graph, dims: lowering.dims, tensors, numbers, unused }
}

impl Lowering<'_, '_> {
    fn declare_dims(&mut self) {
        let dims = self.model.settings.dims.iter().map(|dim| dim.name.to_string()).collect();
        let tensors = self.model.fields.iter().map(|field| field.name.to_string()).collect();
        self.dims.foresee(dims, tensors);
        for dim in &self.model.settings.dims {
            if self.dims.contains(&dim.name) {
                self.report.add(&dim.name, format!("dim `{}` is declared twice; declare it once", dim.name));
                continue;
            }
            let value = dim.value.value(&self.dims, self.report);
            self.dims.declare(&dim.name, value);
        }
    }

    fn declare_fields(&mut self) {
        for (index, field) in self.model.fields.iter().enumerate() {
            let name = field.plain_name();
            if self.dims.contains(&field.name) {
                self.report.add(&field.name, format!("`{name}` is a dim already; give the tensor another name"));
            }
            if self.fields.contains_key(&name) {
                self.report.add(&field.name, format!("there are two tensors called `{name}`; give one another name"));
                continue;
            }
            self.taken.insert(name.clone());
            self.fields.insert(name, index);
        }
    }

    /// The fields, each after those that its expression names, otherwise as declared. Lowering alone would find this
    /// order too, but it recurses, and a network declared last to first would take a stack as deep as itself.
    fn order(&self) -> Vec<usize> {
        let mut order = Vec::with_capacity(self.model.fields.len());
        let mut seen = vec![false; self.model.fields.len()];
        for start in 0..self.model.fields.len() {
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

    /// The fields that a field's expression names, last to first.
    fn named(&self, index: usize) -> Vec<usize> {
        let (ast::Role::Node(expr) | ast::Role::Output(expr)) = &self.model.fields[index].role else {
            return Vec::new();
        };
        let mut names = Vec::new();
        expr.names(&mut |name| names.extend(self.fields.get(&plain(name)).copied()));
        names.reverse();
        names
    }

    /// The tensor of a field; its expression is lowered when it is first asked for.
    fn field(&mut self, index: usize) -> Option<TensorId> {
        match self.states[index] {
            State::Done(id) => return id,
            State::InWork => return None,
            State::Untouched => self.states[index] = State::InWork,
        }
        let field = &self.model.fields[index];
        let name = field.plain_name();
        let declared = self.declared(&field.ty, &name);
        let id = match &field.role {
            ast::Role::Input { keep } => {
                let role = if *keep { Role::KeptInput } else { Role::Input };
                self.leaf(field, role, declared)
            }
            ast::Role::Weight { .. } => self.leaf(field, Role::Weight, declared),
            ast::Role::Constant(_) | ast::Role::ConstantFill(_) => self.leaf(field, Role::Constant, declared),
            ast::Role::Node(expr) => {
                let role = if field.keep.is_some() { Role::KeptNode } else { Role::Node };
                self.result(index, role, expr, declared)
            }
            ast::Role::Output(expr) => self.result(index, Role::Output, expr, declared),
            ast::Role::Broken => None,
        };
        // A stand-in of the declared type: what depends on this field can still be checked.
        let id = id.or_else(|| self.graph.leaf(name, Role::Node, declared.flatten()?).ok());
        self.states[index] = State::Done(id);
        id
    }

    fn leaf(&mut self, field: &ast::Field, role: Role, declared: Option<Option<Type>>) -> Option<TensorId> {
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
        self.graph.leaf(name, role, ty?).ok()
    }

    /// The declared type: `None` for `_`, `Some(None)` after a complaint.
    fn declared(&mut self, ty: &ast::Type, name: &str) -> Option<Option<Type>> {
        let (at, dtype, dims) = match ty {
            ast::Type::Infer(_) => return None,
            ast::Type::Broken => return Some(None),
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

    fn dtype(&mut self, name: &proc_macro2::Ident) -> Option<DType> {
        let text = name.to_string();
        match DType::from_name(&text) {
            Some(DType::F16 | DType::BF16 | DType::Bool) => {
                self.report.add(
                    name,
                    format!("tensors of `{text}` are not in the language yet; f32, i8, u8, i32, u32 and i64 are"),
                );
                None
            }
            Some(dtype) => Some(dtype),
            None => {
                let known: Vec<&str> = DType::ALL.iter().map(|dtype| dtype.name()).collect();
                let advice = suggestion(nearest(&text, known.iter().copied()), &known);
                self.report.add(name, format!("there is no element type `{text}`; {advice}"));
                None
            }
        }
    }

    fn extent(&mut self, dim: &DimExpr) -> Option<Dim> {
        let size = dim.value(&self.dims, self.report)?;
        Some(Dim { size, name: self.dim_name(dim) })
    }

    /// The number under which an extent's text is remembered; 0 when it is just a number.
    fn dim_name(&mut self, dim: &DimExpr) -> u16 {
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

    /// A field that an expression makes.
    fn result(&mut self, index: usize, role: Role, expr: &Expr, declared: Option<Option<Type>>) -> Option<TensorId> {
        let field = &self.model.fields[index];
        let name = field.plain_name();
        self.path.push(index);
        let value = self.expr(expr, &name);
        self.path.pop();
        let value = value?;
        let id = match value {
            Value::Tensor { id, fresh: true } => {
                self.graph.rename(id, name.clone(), role);
                id
            }
            Value::Tensor { id, fresh: false } => {
                self.graph.node(name.clone(), role, Rc::new(op::Identity {}), &[id]).ok()?
            }
            Value::Number(number) => {
                let id = self.number(number, expr.at)?;
                self.graph.node(name.clone(), role, Rc::new(op::Identity {}), &[id]).ok()?
            }
        };
        let inferred = self.graph.tensor(id).ty;
        match (declared, &field.ty) {
            (Some(Some(declared)), _) if declared == inferred => self.graph.redeclare(id, declared),
            (Some(Some(declared)), ast::Type::Tensor { at, .. }) => {
                let (given, found) = (self.type_text(&declared), self.type_text(&inferred));
                self.report.add(
                    *at,
                    format!("`{name}` is declared as {given} and its expression gives {found}; write that, or `_`"),
                );
                return None;
            }
            _ => {}
        }
        Some(id)
    }

    fn expr(&mut self, expr: &Expr, name: &str) -> Option<Value> {
        match &expr.kind {
            ExprKind::Number(number) => Some(Value::Number(*number)),
            ExprKind::Name(ident) => self.name(ident),
            ExprKind::Cast { of, dtype } => {
                let value = self.expr(of, name);
                match self.dtype(dtype)? {
                    DType::F32 => value,
                    _ => {
                        self.report.add(dtype, text::CAST);
                        None
                    }
                }
            }
            ExprKind::Index { of, ranges } => self.index(of, ranges, name),
            ExprKind::Call { name: at, op, operands, settings } => self.call(expr, *at, op, operands, settings, name),
        }
    }

    fn name(&mut self, ident: &proc_macro2::Ident) -> Option<Value> {
        let name = plain(ident);
        if let Some(&index) = self.fields.get(&name) {
            if self.states[index] == State::InWork {
                let start = self.path.iter().position(|field| *field == index).unwrap_or(0);
                let around: Vec<String> = self.path[start..]
                    .iter()
                    .chain([&index])
                    .map(|field| self.model.fields[*field].plain_name())
                    .collect();
                self.report.add(
                    ident,
                    format!(
                        "`{name}` depends on itself: {}; let one of them depend on something else",
                        around.join(" <- ")
                    ),
                );
                return None;
            }
            return self.field(index).map(|id| Value::Tensor { id, fresh: false });
        }
        if self.dims.contains(ident) {
            let size = DimExpr::name(ident.clone()).value(&self.dims, self.report)?;
            return Some(Value::Number(size as f64));
        }
        if self.dims.may_contain(ident) && !name.contains(char::is_lowercase) {
            return None;
        }
        if op::find(&name).is_some() {
            self.report.add(ident, format!("`{name}` is an operator; give it its operands: `{name}(…)`"));
            return None;
        }
        let known: Vec<&str> = self.fields.keys().map(String::as_str).collect();
        let advice = match nearest(&name, known.iter().copied()) {
            Some(near) => format!("did you mean `{near}`?"),
            None if known.len() <= 12 => format!("there are {}", list(&known)),
            None => String::from("declare a field of that name"),
        };
        self.report.add(ident, format!("there is no tensor `{name}`; {advice}"));
        None
    }

    /// A number as a constant of the model; equal numbers share one.
    fn number(&mut self, number: f64, at: At) -> Option<TensorId> {
        let single = number as f32;
        if !single.is_finite() {
            let text = match number.is_finite() {
                true => format!("{number:?} is more than an f32 can hold"),
                false => format!("these numbers come to {number:?}, which is no number to compute with"),
            };
            self.report.add(at, text);
            return None;
        }
        if let Some(id) = self.numbers.get(&single.to_bits()) {
            return Some(*id);
        }
        let id = self.graph.leaf(format!("{single:?}"), Role::Constant, Type::f32(Shape::SCALAR)).ok()?;
        self.numbers.insert(single.to_bits(), id);
        Some(id)
    }

    /// Adds a node under a name made of the field's and the operator's.
    fn node(&mut self, field: &str, op: Rc<dyn Operator>, inputs: &[TensorId]) -> Result<Value, op::RuleError> {
        let mut name = format!("{field}.{}", op.name());
        let mut count = 1;
        while !self.taken.insert(name.clone()) {
            count += 1;
            name = format!("{field}.{}.{count}", op.name());
        }
        let id = self.graph.node(name, Role::Node, op, inputs)?;
        self.graph.set_inner(id);
        Ok(Value::Tensor { id, fresh: true })
    }
}
