//! Operator calls of the textual form: operands, settings, and what their rules complain of.

use alloc::format;
use alloc::rc::Rc;
use alloc::string::String;
use alloc::vec::Vec;

use super::line::Line;
use super::parse::Tensors;
use super::{ParseError, Written};
use crate::op::{self, Args, Operator, RuleError, Spec, Value};
use crate::{Graph, MAX_RANK, TensorId, Type};

/// A setting's value as it was read.
enum Given<'t> {
    One(Value<'t>),
    List(Vec<Value<'t>>),
}

impl Given<'_> {
    fn value(&self) -> Value<'_> {
        match self {
            Given::One(value) => *value,
            Given::List(values) => Value::List(values),
        }
    }
}

/// A call: its operator, which takes these operands, and the operands.
pub(super) fn call(
    graph: &Graph,
    tensors: &Tensors,
    line: &mut Line<'_>,
) -> Result<(Rc<dyn Operator>, Vec<TensorId>), ParseError> {
    let start = *line;
    let Ok(name) = line.name("") else { return line.fail("an operator's name") };
    // A tensor under another name has no operator in the language.
    let identity = name == op::Fields::name(&op::Identity {});
    let entry = op::find(&name);
    if entry.is_none() && !identity {
        let own = name.starts_with(char::is_uppercase);
        let but =
            if own { ", and not one that a user's crate declares, whose rule is no part of the form" } else { "" };
        return start.fail(format!("an operator of the language{but}"));
    }
    line.expect("(", "`(` after the operator")?;
    let (mut inputs, mut numbers) = (Vec::new(), Vec::new());
    let mut given: Vec<(&str, Given<'_>)> = Vec::new();
    let known = entry.map_or(&[][..], |entry| entry.spec.settings);
    let operands = entry.map_or(&[][..], |entry| entry.spec.operands);
    while !line.takes(")") {
        if !(inputs.is_empty() && given.is_empty()) {
            line.expect(",", "`,` or `)`")?;
        }
        let at = *line;
        let expected = "an operand such as `%0`, or a setting such as `axis = 1`";
        if let Some(setting) = line.word() {
            // `mask = _` says that an optional operand is left out although later ones are given.
            let skipped = line_skips(line) && operands.contains(&setting);
            if !skipped && !known.iter().any(|known| known.name == setting) {
                let names: Vec<&str> = known.iter().map(|known| known.name).collect();
                let names = if names.is_empty() { "none".into() } else { names.join(", ") };
                return at.fail(format!("a setting of `{name}` ({names})"));
            }
            if given.iter().any(|(other, _)| *other == setting) {
                return at.fail("each setting once");
            }
            line.expect("=", "`=` after the setting")?;
            given.push((setting, value(graph, line)?));
        } else if given.is_empty() {
            let number = line.reference(expected)?;
            let Some(id) = tensors.get(&number) else { return at.fail("a tensor of a line above") };
            inputs.push(*id);
            numbers.push(number);
        } else {
            return line.fail("another setting; operands come first");
        }
    }
    let (least, most) = entry.map_or((1, 1), |entry| entry.spec.takes());
    if !(least..=most).contains(&inputs.len()) {
        let expected = match most {
            usize::MAX => String::from("at least 1 operand"),
            1 => String::from("1 operand"),
            most if most == least => format!("{most} operands"),
            most => format!("{least} to {most} operands"),
        };
        return start.error(format!("{expected} of `{name}`"), format!("{}", inputs.len()));
    }
    let types: Vec<Type> = inputs.iter().map(|input| graph.tensor(*input).ty).collect();
    let settings: Vec<(&str, Value<'_>)> = given.iter().map(|(name, given)| (*name, given.value())).collect();
    let built: Result<Rc<dyn Operator>, RuleError> = match entry {
        Some(entry) => (entry.build)(&Args { settings: &settings, inputs: &types }),
        None => Ok(Rc::new(op::Identity {})),
    };
    match built.and_then(|op| op::infer(&*op, &types).map(|_| op)) {
        Ok(op) => Ok((op, inputs)),
        Err(error) => {
            let operands = Operands { spec: entry.map(|entry| &entry.spec), numbers: &numbers, types: &types };
            let (expected, given) = complaint(graph, &error, &operands, &settings);
            start.error(expected, given)
        }
    }
}

/// True when `= _` comes next.
fn line_skips(line: &Line<'_>) -> bool {
    let mut ahead = *line;
    ahead.takes("=") && ahead.takes_words("_")
}

fn value<'t>(graph: &Graph, line: &mut Line<'t>) -> Result<Given<'t>, ParseError> {
    if !line.takes("[") {
        return Ok(Given::One(scalar(graph, line)?));
    }
    let mut values = Vec::new();
    while !line.takes("]") {
        if !values.is_empty() {
            line.expect(",", "`,` or `]` in a list")?;
        }
        values.push(scalar(graph, line)?);
    }
    Ok(Given::List(values))
}

/// A value that is no list.
fn scalar<'t>(graph: &Graph, line: &mut Line<'t>) -> Result<Value<'t>, ParseError> {
    if line.starts("{") {
        let dim = super::parse::extent(graph, line)?;
        return Ok(if dim.is_open() { Value::Open(dim) } else { Value::Int(dim.size as i64, 0) });
    }
    if let Some(text) = line.number() {
        let digits = text.trim_start_matches('-');
        let value = if digits.bytes().all(|byte| byte.is_ascii_digit()) {
            text.parse().ok().map(|value| Value::Int(value, 0))
        } else {
            // Read as what it is used as: rounded once.
            text.parse::<f32>().ok().filter(|value| value.is_finite()).map(|value| Value::Float(value.into()))
        };
        let Some(value) = value else { return line.fail("a number that fits its setting") };
        line.take_number(text);
        return Ok(value);
    }
    match line.word() {
        Some("_") => Ok(Value::Infer),
        Some("true") => Ok(Value::Bool(true)),
        Some("false") => Ok(Value::Bool(false)),
        Some(word) => Ok(Value::Word(word)),
        None => line.fail("a number, `true`, `false`, a word or a list of them"),
    }
}

/// The operands of a call, to be named in a complaint.
struct Operands<'a> {
    spec: Option<&'a Spec>,
    numbers: &'a [usize],
    types: &'a [Type],
}

impl Operands<'_> {
    /// As `x` (%0).
    fn name(&self, input: usize) -> String {
        let names = self.spec.map_or(&["x"][..], |spec| spec.operands);
        let name = names.get(input).or(names.last()).copied().unwrap_or("x");
        format!("`{name}` (%{})", self.numbers.get(input).copied().unwrap_or_default())
    }

    fn extent(&self, (input, axis): (usize, usize)) -> String {
        let size = self.types.get(input).and_then(|ty| ty.shape.dims().get(axis)).map_or(0, |dim| dim.size);
        format!("{size} in dimension {axis} of {}", self.name(input))
    }

    fn ty(&self, input: usize) -> String {
        self.types.get(input).map_or_else(String::new, |ty| format!("{ty}"))
    }
}

/// What a rule expects and what it was given.
fn complaint(
    graph: &Graph,
    error: &RuleError,
    operands: &Operands<'_>,
    settings: &[(&str, Value<'_>)],
) -> (String, String) {
    match *error {
        RuleError::DType { input, expected } => {
            (format!("{expected} elements in {}", operands.name(input)), operands.ty(input))
        }
        RuleError::Elements { input, expected } => {
            (format!("{expected} elements in {}", operands.name(input)), operands.ty(input))
        }
        RuleError::Mixed { left, right } => (
            format!("elements of one type in {} and {}", operands.name(left), operands.name(right)),
            format!("{} and {}", operands.ty(left), operands.ty(right)),
        ),
        RuleError::Blocks { input } => {
            (format!("single elements, not blocks, in {}", operands.name(input)), operands.ty(input))
        }
        RuleError::Rank { input, expected } => (format!("{expected} in {}", operands.name(input)), operands.ty(input)),
        RuleError::Mismatch { left, right, rule } => {
            (format!("that {rule}"), format!("{} and {}", operands.extent(left), operands.extent(right)))
        }
        RuleError::Extent { at, expected, rule, at_least } => {
            let least = if at_least { "at least " } else { "" };
            (format!("{least}{expected}, since {rule}"), operands.extent(at))
        }
        RuleError::Setting { name, expected } => {
            let value = settings.iter().find(|(given, _)| *given == name);
            let given =
                value.map_or("its default".into(), |(_, value)| format!("`{name} = {}`", Written(graph, *value)));
            (format!("`{name}` to be {expected}"), given)
        }
        RuleError::Missing { name, expects } => (format!("`{name} = …`, {expects}"), "none".into()),
        RuleError::OpenSetting { name } => {
            (format!("`{name}` to be fixed"), "one that follows from an open dim".into())
        }
        RuleError::OpenExtent { at, rule } => {
            (format!("a fixed extent, since {rule}"), format!("an open one, {}", operands.extent(at)))
        }
        RuleError::NoFormula { rule } => {
            (format!("{rule} to follow from one open dim"), "extents of which it does not".into())
        }
        RuleError::NoState { input } => {
            (format!("a state as {}", operands.name(input)), String::from("another tensor"))
        }
        RuleError::Written { input } => (
            format!("the last version of a state as {}", operands.name(input)),
            String::from("one that was written already"),
        ),
        RuleError::TooManyDims => (format!("a result of at most {MAX_RANK} dimensions"), "more".into()),
        RuleError::Overflow => ("a result whose size fits an address".into(), "a larger one".into()),
    }
}
