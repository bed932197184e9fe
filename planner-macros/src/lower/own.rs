//! Calls of operators that users' crates declare: operands and settings by place and by name, and words for operands that
//! are not what the rule takes.

use std::rc::Rc;

use model_graph_planner::op::own::{Elements, Extent, Misfit, OwnCall, Rule};
use model_graph_planner::op::{self, Args};
use model_graph_planner::{DType, MAX_RANK, Role, TensorId, Type};

use super::block::snake;
use super::call::{Operand, Place, operand_text};
use super::wording::cast;
use super::{Lowering, Value};
use crate::ast::{BlockRef, Origin, plain};
use crate::error::{At, text};
use crate::expr::{Expr, Given, Setting};

impl Lowering<'_, '_> {
    /// True when the path names an operator rather than a block.
    pub(super) fn calls(&self, path: &BlockRef) -> bool {
        self.scope.model.operators.contains_key(&path.key())
    }

    /// Of the operators that a block calls, which of the outermost model's each is.
    pub(super) fn through(&self, block: &BlockRef) -> Vec<usize> {
        let key = block.key();
        let origins = self.scope.model.origins();
        let places = origins.iter().zip(&self.scope.origins);
        let of_block = |origin: &Origin<'_>| matches!(origin, Origin::Through { .. }) && origin.key() == key;
        places.filter(|(origin, _)| of_block(origin)).map(|(_, place)| *place).collect()
    }

    /// A call.
    pub(super) fn own_call(
        &mut self,
        call: At,
        path: &BlockRef,
        operands: &[Expr],
        given: &[Given],
        field: &str,
    ) -> Option<Value> {
        let model = self.scope.model;
        let declared = model.operators.get(&path.key())?;
        let rule = declared.rule;
        let here = |origin: &Origin<'_>| matches!(origin, Origin::Here { .. }) && origin.key() == path.key();
        let key = self.scope.origins[model.origins().iter().position(here)?];
        let mut fine = true;
        if let Some((dim, _)) = path.binds.first() {
            let name = rule.spec.name;
            let text = format!(
                "`{name}` is an operator and has no dims: its extents come from its operands, and settings are given as \
                 `{name}(…, name = value)`"
            );
            self.report.add(dim, text);
            fine = false;
        }
        let (by_name, settings): (Vec<&Given>, Vec<&Given>) =
            given.iter().partition(|given| rule.spec.operands.contains(&plain(&given.name).as_str()));
        let places = self.places(rule, path.at, operands, &by_name);
        let settings = self.read_settings(&settings);
        let values = settings.and_then(|settings| self.settings(&rule.spec, settings));
        let mut resolved = Vec::new();
        for operand in places.as_deref().unwrap_or_default() {
            let id = match self.expr(operand, field) {
                Some(Value::Tensor { id, .. }) => Some(id),
                Some(Value::Number(number)) => {
                    let dtype = self.number_dtype(rule, resolved.len(), &resolved);
                    self.number(number, dtype, None, operand.at)
                }
                None => None,
            };
            resolved.push(id.map(|id| Operand { at: operand.at, text: operand_text(operand), id }));
        }
        places?;
        let resolved: Vec<Operand> = resolved.into_iter().collect::<Option<_>>()?;
        let values = values.filter(|_| fine)?;
        let pairs: Vec<(&str, op::Value<'_>)> =
            values.iter().map(|setting| (setting.name.as_str(), setting.value.lend())).collect();
        let place = Place { field, call, name: path.at, roles: rule.spec.operands };
        let mut read = Vec::new();
        for ((setting, kind), default) in rule.spec.settings.iter().zip(rule.kinds).zip(&declared.defaults) {
            let given = match default {
                Some(default) if !pairs.iter().any(|(name, _)| *name == setting.name) => Ok(default.clone()),
                _ => kind.read(setting, &Args { settings: &pairs, inputs: &[] }),
            };
            match given {
                Ok(given) => read.push(given),
                Err(error) => {
                    let at = |wanted: &str| values.iter().find(|given| given.name == wanted).map(|given| given.at);
                    let (at, text) = self.wording(&error, &rule.spec, &place, &resolved, &at);
                    self.report.add(at, text);
                    fine = false;
                }
            }
        }
        let own = OwnCall { rule, key, given: read };
        let types: Vec<Type> = resolved.iter().map(|operand| self.graph.tensor(operand.id).ty).collect();
        if !fine {
            return None;
        }
        let size = |setting| own.size(setting);
        if let Err(misfit) = rule.infer(&size, &types).and_then(|_| rule.scratch(&size, &types)) {
            let (at, text) = self.own_misfit(&misfit, rule, &place, &resolved);
            self.report.add(at, text);
            return None;
        }
        let name = self.fresh_name(field, &snake(rule.spec.name));
        let ids: Vec<TensorId> = resolved.iter().map(|operand| operand.id).collect();
        match self.graph.node(name, Role::Node, Rc::new(own), &ids) {
            Ok(id) => {
                self.graph.set_inner(id);
                Some(Value::Tensor { id, fresh: true })
            }
            Err(error) => {
                let (at, text) = self.wording(&error, &rule.spec, &place, &resolved, &|_| None);
                self.report.add(at, text);
                None
            }
        }
    }

    /// The element type that a number has as operand `place`, behind those that are resolved.
    fn number_dtype(&self, rule: &Rule, place: usize, resolved: &[Option<Operand>]) -> DType {
        match rule.operands[place].elements {
            Elements::OneOf(known) if known.contains(&DType::F32) => DType::F32,
            Elements::OneOf(known) => known.first().copied().unwrap_or(DType::F32),
            Elements::Like(other) => match resolved.get(other).and_then(Option::as_ref) {
                Some(operand) => self.graph.tensor(operand.id).ty.dtype,
                None => DType::F32,
            },
        }
    }

    /// The operands in the order of the rule, whichever way they are given.
    fn places<'e>(
        &mut self,
        rule: &Rule,
        name: At,
        operands: &'e [Expr],
        by_name: &[&'e Given],
    ) -> Option<Vec<&'e Expr>> {
        let op = rule.spec.name;
        let (least, most) = rule.spec.takes();
        if by_name.is_empty() || operands.len() > most {
            self.count(&rule.spec, name, operands)?;
        }
        let mut places: Vec<Option<&Expr>> = operands.iter().map(Some).collect();
        places.resize(most, None);
        let mut fine = true;
        for given in by_name {
            let plain = plain(&given.name);
            let operand = match &given.operand {
                Ok(operand) => operand,
                Err(error) => {
                    self.report.syntax(error);
                    fine = false;
                    continue;
                }
            };
            let Some(place) = rule.spec.operands.iter().position(|known| *known == plain) else { continue };
            if places[place].replace(operand).is_some() {
                let first = if place < operands.len() { "in its place and by name" } else { "twice" };
                self.report.add(&given.name, format!("`{plain}` of `{op}` is given {first}; write it once"));
                fine = false;
            }
        }
        let count = places.iter().rposition(Option::is_some).map_or(0, |last| last + 1).max(least);
        places.truncate(count);
        for (place, _) in places.iter().enumerate().filter(|(_, operand)| operand.is_none()) {
            let missing = rule.spec.operands[place];
            let text = match place < least || !fine {
                true => format!("`{op}` needs its operand `{missing}`"),
                false => format!(
                    "`{op}` is given `{}` without `{missing}` before it; operands are left out from the end",
                    rule.spec.operands[count - 1]
                ),
            };
            self.report.add(name, text);
            fine = false;
        }
        if fine { Some(places.into_iter().flatten().collect()) } else { None }
    }

    fn read_settings<'e>(&mut self, given: &[&'e Given]) -> Option<Vec<&'e Setting>> {
        let mut settings = Some(Vec::new());
        for given in given {
            match &given.setting {
                Ok(setting) => settings = settings.map(|settings| [settings, vec![setting]].concat()),
                Err(error) => {
                    self.report.syntax(error);
                    settings = None;
                }
            }
        }
        settings
    }

    /// Where a complaint of operands belongs and what it says.
    fn own_misfit(&self, misfit: &Misfit, rule: &Rule, place: &Place<'_>, operands: &[Operand]) -> (At, String) {
        let op = rule.spec.name;
        let ty = |input: usize| self.graph.tensor(operands[input].id).ty;
        let of = |input: usize| operands[input].text.as_str();
        let is = |input: usize| format!("{} is {}", of(input), self.type_text(&ty(input)));
        let takes = |input: usize| {
            let pattern = &rule.operands[input];
            let scalar = if pattern.dims.is_empty() && !pattern.leading { "a scalar " } else { "" };
            format!("`{op}` takes {scalar}`{}` as `{}`", rule.pattern(pattern), rule.spec.operands[input])
        };
        let dim = |(input, axis): (usize, usize)| {
            format!("dim {axis} of {} is {}", of(input), self.dim_text(&ty(input).shape, axis))
        };
        match *misfit {
            Misfit::DType { input } => {
                let like = match rule.operands[input].elements {
                    Elements::Like(other) => format!(" and {}", is(other)),
                    Elements::OneOf(_) => String::new(),
                };
                let to = match rule.operands[input].elements {
                    Elements::Like(other) => Some(ty(other).dtype),
                    Elements::OneOf(dtypes) => dtypes.iter().copied().find(|dtype| !dtype.is_quantised()),
                };
                let to = to.filter(|to| !to.is_quantised());
                let advice = to.map(|to| format!("; write {}", cast(of(input), to.name()))).unwrap_or_default();
                (operands[input].at, format!("{}, and {}{like}{advice}", takes(input), is(input)))
            }
            Misfit::Rank { input } => (operands[input].at, format!("{}, and {}", takes(input), is(input))),
            Misfit::Leading { input, by } => (
                operands[by].at.to(operands[input].at),
                format!(
                    "the leading dims `..` of `{op}` are the same in each operand: {} and {}; {}",
                    is(by),
                    is(input),
                    takes(input)
                ),
            ),
            Misfit::Name { name, at, by } => (
                operands[by.0].at.to(operands[at.0].at),
                format!(
                    "`{}` of `{op}` is one extent: {} and {}; `{op}` is `{}`",
                    rule.extents[name],
                    dim(by),
                    dim(at),
                    rule
                ),
            ),
            Misfit::Exact { at, extent, expected } => {
                let size = expected;
                let come = match extent {
                    Extent::Number(_) => size.to_string(),
                    extent => format!("`{}`, which is {size}", rule.extent(&extent)),
                };
                (operands[at.0].at, format!("{} and has to be {come}; `{op}` is `{}`", dim(at), rule))
            }
            Misfit::Arithmetic { of, open: true, .. } => {
                let sign = of.sign();
                let operands: Vec<String> = (0..operands.len()).map(is).collect();
                let text = format!(
                    "`{op}` is `{rule}`, and its `{sign}` gives no extent that is right for every value of the open dims: {}",
                    operands.join(", ")
                );
                (place.call, text)
            }
            Misfit::Arithmetic { of, sizes: (left, right), .. } => {
                let sign = of.sign();
                let what = match sign {
                    '-' => "goes below zero",
                    '/' if right == 0 => "divides by zero",
                    '/' => "leaves a remainder",
                    _ => "overflows",
                };
                let operands: Vec<String> = (0..operands.len()).map(is).collect();
                let text = format!("{left} {sign} {right} {what}; `{op}` is `{}`, and {}", rule, operands.join(", "));
                (place.call, text)
            }
            Misfit::TooManyDims => {
                (place.call, format!("the result of `{op}` would have more than {MAX_RANK} dimensions"))
            }
            // They were counted.
            Misfit::Count => (place.name, String::from(text::OPERAND)),
        }
    }
}
