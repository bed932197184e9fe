//! Operator calls: operands, settings and the operator's rule.

use model_graph_planner::op::{self, Args, Spec};
use model_graph_planner::{Dim, TensorId};

use super::block::camel;
use super::{Lowering, Value};
use crate::ast;
use crate::error::{At, list};
use crate::expr::{self, Expr, Setting, ValueKind};
use crate::foreign;
use crate::names::nearest;

/// Where a call stands.
pub(super) struct Place<'a> {
    /// The field whose expression it is part of.
    pub(super) field: &'a str,
    pub(super) call: At,
    /// The operator's name.
    pub(super) name: At,
    /// What the operator calls the operands that are given.
    pub(super) roles: &'a [&'static str],
}

/// What stands in a call's parentheses.
#[derive(Clone, Copy)]
pub(super) struct Arguments<'a> {
    pub(super) operands: &'a [Expr],
    pub(super) named: &'a [(proc_macro2::Ident, Expr)],
    pub(super) settings: &'a [Setting],
}

/// An operand of a call, resolved.
pub(super) struct Operand {
    pub(super) at: At,
    /// What to call it in a message.
    pub(super) text: String,
    pub(super) id: TensorId,
}

impl Lowering<'_, '_> {
    /// An operator call. Calls of numbers alone are worked out here.
    pub(super) fn call(
        &mut self,
        expr: &Expr,
        name: At,
        op: &str,
        arguments: &Arguments<'_>,
        field: &str,
    ) -> Option<Value> {
        let Arguments { operands, named, settings } = *arguments;
        let values: Vec<Option<Value>> = operands.iter().map(|operand| self.expr(operand, field)).collect();
        let by_name: Vec<Option<Value>> = named.iter().map(|(_, operand)| self.expr(operand, field)).collect();
        let Some(entry) = op::find(op) else {
            let known: Vec<&str> = op::OPERATORS.iter().map(|entry| entry.spec.name).collect();
            let text = if self.scope.fields.contains_key(op) {
                format!("`{op}` is a tensor and cannot be called; an index stands in brackets, `{op}[0]`")
            } else {
                let advice = match (foreign::operator(op), nearest(op, known.iter().copied())) {
                    (Some(advice), _) => String::from(advice),
                    (None, Some(near)) => format!("did you mean `{near}`?"),
                    (None, None) => format!(
                        "the page of `model_graph::operators` lists those that there are, and one of your own is called \
                         by its struct's name, such as `{}(x)`",
                        camel(op)
                    ),
                };
                format!("there is no operator `{op}`; {advice}")
            };
            self.report.add(name, text);
            return None;
        };
        let spec = &entry.spec;
        let counted = if named.is_empty() { self.count(spec, name, operands) } else { Some(()) };
        let settings = self.settings(spec, settings);
        let values: Vec<Value> = values.into_iter().collect::<Option<_>>()?;
        let by_name: Vec<Value> = by_name.into_iter().collect::<Option<_>>()?;
        counted?;
        if let (Some(number), true) = (folded(op, &values), named.is_empty()) {
            return Some(Value::Number(number));
        }
        let mut settings = settings;
        let mut given: Vec<(&Expr, Value, usize)> =
            operands.iter().zip(values).enumerate().map(|(at, (operand, value))| (operand, value, at)).collect();
        for ((name, operand), value) in named.iter().zip(by_name) {
            let plain = crate::ast::plain(name);
            let at = spec.operands.iter().position(|known| *known == plain)?;
            if given.iter().any(|(_, _, other)| *other == at) {
                let first = if at < operands.len() { "in its place and by name" } else { "twice" };
                self.report.add(name, format!("`{plain}` of `{op}` is given {first}; write it once"));
                return None;
            }
            // What can be a number too is a setting when it is one.
            match value {
                Value::Number(number) if spec.settings.iter().any(|setting| setting.name == plain) => {
                    let whole = number.fract() == 0.0 && number.abs() < 9e15;
                    let value = if whole { op::Value::Int(number as i64, 0) } else { op::Value::Float(number) };
                    let setting = Given { name: plain, at: operand.at, value: Owned::Plain(value) };
                    settings.as_mut()?.push(setting);
                }
                _ => given.push((operand, value, at)),
            }
        }
        given.sort_by_key(|(_, _, at)| *at);
        if !named.is_empty() {
            let least = spec.operands.len() - spec.optional;
            if let Some(missing) = (0..least).find(|at| !given.iter().any(|(_, _, other)| other == at)) {
                let missing = spec.operands[missing];
                self.report.add(name, format!("`{op}` is not given its operand `{missing}`; write `{missing} = …`"));
                return None;
            }
        }
        let roles: Vec<&'static str> = given
            .iter()
            .map(|(_, _, at)| spec.operands.get(*at).or(spec.operands.last()).copied().unwrap_or("operand"))
            .collect();
        let mut resolved = Vec::with_capacity(given.len());
        let (beside, values): (Vec<&Expr>, Vec<Value>) =
            given.iter().map(|(operand, value, _)| (*operand, *value)).unzip();
        for (operand, value, at) in &given {
            let id = match *value {
                Value::Tensor { id, .. } => id,
                Value::Number(number) => {
                    let (dtype, beside) = self.number_type(spec.operands.get(*at).copied(), &values, &beside);
                    self.number(number, dtype, beside.as_deref(), operand.at)?
                }
            };
            resolved.push(Operand { at: operand.at, text: operand_text(operand), id });
        }
        if op == "write" && !self.scope.versions.contains_key(&resolved[0].id) {
            self.no_state(given[0].0, &resolved[0]);
            return None;
        }
        let settings = settings?;
        let mut pairs: Vec<(&str, op::Value<'_>)> =
            settings.iter().map(|setting| (setting.name.as_str(), setting.value.lend())).collect();
        let last = given.last().map_or(0, |(_, _, at)| *at);
        let skipped = (0..last).filter(|at| !spec.variadic && !given.iter().any(|(_, _, other)| other == at));
        pairs.extend(skipped.map(|at| (spec.operands[at], op::Value::Infer)));
        let types: Vec<_> = resolved.iter().map(|operand| self.graph.tensor(operand.id).ty).collect();
        let ids: Vec<TensorId> = resolved.iter().map(|operand| operand.id).collect();
        let built = (entry.build)(&Args { settings: &pairs, inputs: &types });
        if let Ok(built) = &built
            && let Some(values) = super::open::exception(&self.graph, entry, &**built, &pairs, &types)
        {
            let of: Vec<String> = resolved
                .iter()
                .map(|operand| format!("{} is {}", operand.text, self.type_text(&self.graph.tensor(operand.id).ty)))
                .collect();
            let text = format!(
                "`{op}` needs fixed extents here: where {values} it does not hold, or not as for other values; {}",
                of.join(", ")
            );
            self.report.add(expr.at, text);
            return None;
        }
        match built.and_then(|op| self.node(field, op, &ids)) {
            Ok(value) => {
                self.written(&ids, value);
                Some(value)
            }
            Err(error) => {
                let setting_at = |wanted: &str| settings.iter().find(|setting| setting.name == wanted).map(|s| s.at);
                let place = Place { field, call: expr.at, name, roles: &roles };
                let (at, text) = self.wording(&error, spec, &place, &resolved, &setting_at);
                self.report.add(at, text);
                None
            }
        }
    }

    /// Remembers a new version of a state.
    fn written(&mut self, inputs: &[TensorId], value: Value) {
        let Value::Tensor { id, .. } = value else { return };
        let state = inputs.first().and_then(|before| self.scope.versions.get(before)).copied();
        let (Some(state), Some(field)) = (state, self.scope.path.last()) else { return };
        if self.graph.tensor(id).role == model_graph_planner::Role::State {
            self.scope.versions.insert(id, state);
            self.scope.written.insert((state, *field), id);
        }
    }

    /// Complains of a write of what is no state of this model.
    fn no_state(&mut self, operand: &Expr, resolved: &Operand) {
        let text = &resolved.text;
        let role = |name: &proc_macro2::Ident| {
            let field = self.scope.fields.get(&crate::ast::plain(name))?;
            Some(&self.scope.model.fields[*field].role)
        };
        let what = match &operand.kind {
            expr::ExprKind::Index { of, .. } => {
                let of = operand_text(of);
                let of = of.trim_matches('`');
                let text = format!(
                    "`write` takes the whole state and says by `at` which rows of it change: `write({of}, src = …, at = …)`"
                );
                self.report.add(operand.at, text);
                return;
            }
            expr::ExprKind::Name(name) => match role(name) {
                // It was complained of where it is declared.
                Some(ast::Role::State | ast::Role::Broken) => return,
                Some(ast::Role::Input { .. }) => "is an input, which is written from outside",
                Some(ast::Role::Weight { .. }) => "is a weight, which no step changes",
                Some(ast::Role::Constant(_) | ast::Role::ConstantFill(_)) => "is a constant, which no step changes",
                _ => "is made anew by every forward",
            },
            expr::ExprKind::Number(_) => "is a number, which stays what it is",
            _ => "is made anew by every forward",
        };
        let ty = self.declared_text(&self.graph.tensor(resolved.id).ty);
        self.report.add(
            operand.at,
            format!("`write` changes a state, and {text} {what}; declare a state: `#[state] name: {ty}`"),
        );
    }

    pub(super) fn count(&mut self, spec: &Spec, name: At, operands: &[Expr]) -> Option<()> {
        let most = spec.operands.len();
        let least = if spec.variadic { 1 } else { most - spec.optional };
        if operands.len() >= least && (spec.variadic || operands.len() <= most) {
            return Some(());
        }
        let takes = match (spec.variadic, least == most) {
            (true, _) => String::from("one operand or more"),
            (false, true) if most == 1 => format!("one operand ({})", spec.operands[0]),
            (false, true) => format!("{most} operands ({})", spec.operands.join(", ")),
            (false, false) => format!("{least} to {most} operands ({})", spec.operands.join(", ")),
        };
        let given = match operands.len() {
            0 => String::from("none is given"),
            1 => String::from("one is given"),
            count => format!("{count} are given"),
        };
        let more = operands.get(most..).filter(|more| !more.is_empty()).map(|more| advice(spec, more));
        self.report.add(name, format!("`{}` takes {takes} and {given}{}", spec.name, more.unwrap_or_default()));
        None
    }

    pub(super) fn settings<'s>(
        &mut self,
        spec: &Spec,
        settings: impl IntoIterator<Item = &'s Setting>,
    ) -> Option<Vec<Given>> {
        let mut given: Vec<Given> = Vec::new();
        let mut fine = true;
        for setting in settings {
            let name = crate::ast::plain(&setting.name);
            if !spec.settings.iter().any(|known| known.name == name) {
                let known: Vec<&str> = spec.settings.iter().map(|setting| setting.name).collect();
                let advice = match known.is_empty() {
                    _ if spec.operands.len() > 1 && nearest(&name, spec.operands.iter().copied()).is_some() => {
                        let near = nearest(&name, spec.operands.iter().copied()).unwrap_or_default();
                        format!("did you mean its operand `{near}`?")
                    }
                    true => String::from("it takes none"),
                    false => match foreign::setting(&name, &known).or(nearest(&name, known.iter().copied())) {
                        Some(near) => format!("did you mean `{near}`? it takes {}", list(&known)),
                        None => format!("it takes {}", list(&known)),
                    },
                };
                self.report.add(&setting.name, format!("`{}` has no setting `{name}`; {advice}", spec.name));
                fine = false;
            } else if given.iter().any(|other| other.name == name) {
                self.report.add(&setting.name, format!("`{name}` is given twice; write it once"));
                fine = false;
            } else {
                match self.value(&setting.value) {
                    Some(value) => given.push(Given { name, at: setting.value.at, value }),
                    None => fine = false,
                }
            }
        }
        fine.then_some(given)
    }

    fn value(&mut self, value: &expr::Value) -> Option<Owned> {
        Some(match &value.kind {
            ValueKind::Float(number) => Owned::Plain(op::Value::Float(*number)),
            ValueKind::Bool(value) => Owned::Plain(op::Value::Bool(*value)),
            ValueKind::Infer => Owned::Plain(op::Value::Infer),
            // Words are written small, dims large: an unknown large name is a dim that was forgotten.
            ValueKind::Dim { negative: false, word: Some(word), .. }
                if !self.scope.dims.contains(word) && word.to_string().contains(char::is_lowercase) =>
            {
                Owned::Word(word.to_string())
            }
            ValueKind::Dim { negative, dim, .. } => {
                let extent = match negative {
                    true => Dim::new(dim.value(&self.scope.dims, self.report)?),
                    false => dim.dim(&self.scope.dims, self.report)?,
                };
                if extent.is_open() {
                    return Some(Owned::Plain(op::Value::Open(extent.named(self.dim_name(dim)))));
                }
                let size = extent.size;
                let Ok(size) = i64::try_from(size) else {
                    self.report.add(value.at, format!("{size} is too large"));
                    return None;
                };
                let name = if *negative { 0 } else { self.dim_name(dim) };
                Owned::Plain(op::Value::Int(if *negative { -size } else { size }, name))
            }
            ValueKind::List(values) => {
                let mut items = Vec::with_capacity(values.len());
                for item in values {
                    match self.value(item)? {
                        Owned::Plain(value) => items.push(value),
                        _ => {
                            self.report.add(item.at, "a list holds numbers, dims from `dims(…)` or `_`");
                            return None;
                        }
                    }
                }
                Owned::List(items)
            }
        })
    }
}

/// A setting that was given, with its value worked out.
pub(super) struct Given {
    pub(super) name: String,
    pub(super) at: At,
    pub(super) value: Owned,
}

/// A value that owns what it is made of.
pub(super) enum Owned {
    Plain(op::Value<'static>),
    Word(String),
    List(Vec<op::Value<'static>>),
}

impl Owned {
    pub(super) fn lend(&self) -> op::Value<'_> {
        match self {
            Owned::Plain(value) => *value,
            Owned::Word(word) => op::Value::Word(word),
            Owned::List(values) => op::Value::List(values),
        }
    }
}

/// What to do with operands beyond those that an operator takes: numbers are most often settings without their names.
fn advice(spec: &Spec, more: &[Expr]) -> String {
    if let Some(advice) = foreign::operands(spec.name) {
        return format!("; {advice}");
    }
    if spec.settings.is_empty() || !more.iter().all(Expr::is_number) {
        return String::new();
    }
    let names: Vec<String> = spec.settings.iter().take(more.len()).map(|known| format!("{} = …", known.name)).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    format!("; settings are named: write {}", list(&names))
}

/// What to call an operand in a message.
pub(super) fn operand_text(operand: &Expr) -> String {
    match &operand.kind {
        expr::ExprKind::Name(name) => format!("`{}`", crate::ast::plain(name)),
        expr::ExprKind::Number(number) => format!("{number}"),
        expr::ExprKind::Call { op, .. } => format!("the result of `{op}`"),
        expr::ExprKind::Block { block, .. } => format!("the result of `{}`", block.name()),
        expr::ExprKind::Index { of, .. } => format!("the part of {}", operand_text(of)),
        expr::ExprKind::Cast { of, .. } => operand_text(of),
    }
}

/// The result of arithmetic on numbers alone.
fn folded(op: &str, values: &[Value]) -> Option<f64> {
    match (op, values) {
        ("neg", [Value::Number(x)]) => Some(-x),
        ("add", [Value::Number(a), Value::Number(b)]) => Some(a + b),
        ("sub", [Value::Number(a), Value::Number(b)]) => Some(a - b),
        ("mul", [Value::Number(a), Value::Number(b)]) => Some(a * b),
        ("div", [Value::Number(a), Value::Number(b)]) => Some(a / b),
        ("rem", [Value::Number(a), Value::Number(b)]) => Some(a % b),
        // Only what is exact, and so the same on every machine.
        ("sqrt", [Value::Number(x)]) => Some(x.sqrt()),
        ("abs", [Value::Number(x)]) => Some(x.abs()),
        ("floor", [Value::Number(x)]) => Some(x.floor()),
        ("ceil", [Value::Number(x)]) => Some(x.ceil()),
        ("round", [Value::Number(x)]) => Some(x.round_ties_even()),
        _ => None,
    }
}
