//! Words for what an operator's rule complains of, in terms of the user's names and dims.

use model_graph_planner::op::{Expected, RuleError, Spec};
use model_graph_planner::{DType, Dim, Shape, Type};

use super::Lowering;
use super::call::{Operand, Place};
use crate::error::At;

impl Lowering<'_, '_> {
    /// Where a complaint belongs and what it says.
    pub(super) fn wording(
        &self,
        error: &RuleError,
        spec: &Spec,
        place: &Place<'_>,
        operands: &[Operand],
        setting_at: &dyn Fn(&str) -> Option<At>,
    ) -> (At, String) {
        let op = spec.name;
        let ty = |input: usize| self.graph.tensor(operands[input].id).ty;
        let texts: Vec<String> = (0..operands.len()).map(|input| told_apart(input, place, operands)).collect();
        let text = |input: usize| texts[input].as_str();
        let shape = |input: usize| self.shape_text(&ty(input).shape);
        match *error {
            // A state is moved too, and as what it is.
            RuleError::DType { input, expected } if op == "write" => (
                operands[input].at,
                format!(
                    "`{op}` needs {expected} of its operand {}, and {} is {}; write {}",
                    place.roles.get(input).copied().unwrap_or("operand"),
                    text(input),
                    self.type_text(&ty(input)),
                    cast(text(input), expected.name())
                ),
            ),
            RuleError::DType { input, expected } => {
                // A cast would round the numbers themselves, not what they are in steps of a scale.
                let advice = match op.starts_with("q_") && expected == DType::I8 && ty(input).dtype == DType::F32 {
                    true => String::from("`quantize(…, scale, zero = n)`"),
                    false => cast(text(input), expected.name()),
                };
                let given = self.type_text(&ty(input));
                (operands[input].at, format!("`{op}` takes {expected} and {} is {given}; write {advice}", text(input)))
            }
            RuleError::Elements { input, expected } => {
                let from = ty(input).dtype;
                let advice = match expected.split([',', ' ']).next() {
                    // Whole numbers stay what they are.
                    Some("f32") if from.is_integer() && expected.contains("i32") => {
                        format!("; write {}", cast(text(input), "i32"))
                    }
                    Some("floats") => format!("; write {}", cast(text(input), "f32")),
                    Some("f32") => format!("; write {}", cast(text(input), "f32")),
                    Some("i32") => format!("; write {}", cast(text(input), "i32")),
                    Some("bool") => format!("; compare it, such as `… != 0`, or write {}", cast(text(input), "bool")),
                    _ => String::new(),
                };
                let index = |dtype| matches!(dtype, DType::I32 | DType::U32 | DType::I64);
                let advice = match op {
                    "gather" if index(ty(0).dtype) && !index(ty(input).dtype) => {
                        String::from("; the table comes first: `gather(table, index)`")
                    }
                    _ => advice,
                };
                let given = self.type_text(&ty(input));
                (operands[input].at, format!("`{op}` takes {expected} and {} is {given}{advice}", text(input)))
            }
            RuleError::Mixed { left, right } => {
                let (a, b) = (ty(left), ty(right));
                let (left_cast, right_cast) = (cast(text(left), b.dtype.name()), cast(text(right), a.dtype.name()));
                // Of numbers as truth values little is left.
                let advice = match (a.dtype, b.dtype) {
                    (_, DType::Bool) => right_cast,
                    (DType::Bool, _) => left_cast,
                    _ => format!("{left_cast} or {right_cast}"),
                };
                let text = format!(
                    "`{op}` takes operands of one element type: {} is {} and {} is {}; write {advice}",
                    text(left),
                    self.type_text(&a),
                    text(right),
                    self.type_text(&b),
                );
                (operands[left].at.to(operands[right].at), text)
            }
            RuleError::Blocks { input } if op == "gather" => {
                let given = self.type_text(&ty(input));
                let text = format!(
                    "`{op}` takes i32, u32 or i64 as its operand index, and {} is {given}, a weight in blocks; write an \
                     input of integers, such as `Tensor<i32, 4>`, after the table",
                    text(input)
                );
                (operands[input].at, text)
            }
            RuleError::Blocks { input } => {
                let given = self.type_text(&ty(input));
                let text = format!(
                    "`{op}` takes single elements and {} is {given}, a weight in blocks; write {}, or give it to \
                     `linear` or `gather`",
                    text(input),
                    cast(text(input), "f32")
                );
                (operands[input].at, text)
            }
            RuleError::Rank { input, expected } => {
                let role = place.roles.get(input).copied().unwrap_or("operand");
                let rank = ty(input).shape.rank();
                let advice = match expected {
                    "a scalar" if rank == 1 => format!("; take one element of it, such as {}[0]`", of(text(input))),
                    "a scalar" => format!("; a scalar is declared as `Tensor<{}>`", ty(input).dtype),
                    _ if op == "write" && rank < ty(0).shape.rank() => format!(
                        "; give it the state's dimensions, such as `expand_dims({}, axis = 0)`",
                        of(text(input)).trim_matches('`').replace("(…)", "…")
                    ),
                    _ if op == "write" => String::from("; write a part of it, or `reshape` it"),
                    _ => String::new(),
                };
                (
                    operands[input].at,
                    format!(
                        "`{op}` needs {expected} of its operand {role}, and {} is {}{advice}",
                        text(input),
                        shape(input)
                    ),
                )
            }
            RuleError::Mismatch { left, right, rule } => {
                let side = |(input, axis): (usize, usize)| {
                    let dim = self.dim_text(&ty(input).shape, axis);
                    format!("dim {axis} of {} is {dim}", text(input))
                };
                let at = operands[left.0].at.to(operands[right.0].at);
                let open = [left, right].map(|(input, axis)| ty(input).shape.dims()[axis].is_open());
                let only = match open {
                    [false, true] if rule.contains("more rows") => {
                        "; the bound of an open dim counts: declare a smaller one, or a state of as many rows"
                    }
                    [true, true] if rule.contains("one of them 1") => "; only an extent that is 1 for good stretches",
                    [true, true] | [false, false] => "",
                    _ => "; an open extent is equal to itself alone, and stretches nothing",
                };
                let shapes = format!("{} is {}, {} is {}", text(left.0), shape(left.0), text(right.0), shape(right.0));
                (at, format!("`{op}`: {rule}: {} and {}; {shapes}{only}", side(left), side(right)))
            }
            RuleError::Extent { at: (input, axis), expected, at_least, rule } => {
                let dim = ty(input).shape.dims()[axis];
                let from = match expected.checked_sub(1) {
                    Some(more) if at_least && dim.is_open() => format!(
                        " for every value: declare the dim smaller, such as `dims(N <= {})`, and write `{{N + {more}}}`",
                        dim.size.saturating_sub(more).max(1)
                    ),
                    _ => String::new(),
                };
                (
                    operands[input].at,
                    format!(
                        "`{op}`: {rule}: dim {axis} of {} is {} and has to be {}{expected}{from}; {} is {}",
                        text(input),
                        self.dim_text(&ty(input).shape, axis),
                        if at_least { "at least " } else { "" },
                        text(input),
                        shape(input)
                    ),
                )
            }
            RuleError::Setting { name: setting, expected } => {
                let operand = match expected {
                    Expected::Axis(_)
                    | Expected::Between(..)
                    | Expected::PerDim(_)
                    | Expected::Elements(_)
                    | Expected::OpenElements
                    | Expected::Divisor(_) => {
                        format!("; {} is {}", text(0), shape(0))
                    }
                    Expected::Words(_) => String::new(),
                };
                match setting_at(setting) {
                    Some(at) => (at, format!("`{setting}` of `{op}` has to be {expected}{operand}")),
                    None => {
                        (place.name, format!("`{op}`: `{setting}`, which was left out, has to be {expected}{operand}"))
                    }
                }
            }
            RuleError::Missing { name: setting, expects } => {
                (place.name, format!("`{op}` needs `{setting}`: write `{setting} = …` with {expects}"))
            }
            RuleError::OpenSetting { name: setting } => {
                let at = setting_at(setting).unwrap_or(place.name);
                (at, format!("`{setting}` of `{op}` follows from an open dim: {}", crate::error::text::OPEN_NUMBER))
            }
            RuleError::OpenExtent { at: (input, axis), rule } => (
                operands[input].at,
                format!(
                    "`{op}` needs a fixed extent here: {rule}; dim {axis} of {} is {}; {} is {}",
                    text(input),
                    self.dim_text(&ty(input).shape, axis),
                    text(input),
                    shape(input)
                ),
            ),
            RuleError::NoFormula { rule } => {
                let shapes: Vec<String> =
                    (0..operands.len()).map(|input| format!("{} is {}", text(input), shape(input))).collect();
                let text = format!(
                    "`{op}`: {rule} would have to follow from one open dim, and does not; declare a dim for it, or fix one \
                     of the others; {}",
                    shapes.join(", ")
                );
                (place.call, text)
            }
            RuleError::TooManyDims => (
                place.call,
                format!("the result of `{op}` would have more than {} dimensions", model_graph_planner::MAX_RANK),
            ),
            // It was looked for before the rule was asked.
            RuleError::NoState { input } => (operands[input].at, format!("{} is no state", text(input))),
            RuleError::Written { input } => {
                let next = self.graph.next_version(operands[input].id).map(|next| self.graph.tensor(next));
                let also = match next {
                    Some(next) if !next.inner => format!("as `{}`", next.name),
                    _ => String::from("by another `write` of this expression"),
                };
                let state = text(input).trim_matches('`');
                (
                    operands[input].at,
                    format!(
                        "`{state}` is written here and, from the same value, {also}, and nothing says which comes first; \
                         write what the first write gives, `write(write({state}, …), …)`, or put one into a field after \
                         the other"
                    ),
                )
            }
            RuleError::Overflow => {
                let field = place.field;
                let text =
                    format!("the size of the result of `{op}` in `{field}` overflows: it does not fit an address");
                (place.call, text)
            }
        }
    }

    /// `BATCH x 784 (100 x 784)`, or just the numbers when no extent has a name.
    pub(super) fn shape_text(&self, shape: &Shape) -> String {
        if shape.rank() == 0 {
            return String::from("a scalar");
        }
        let join = |texts: Vec<String>| if texts.len() == 1 { format!("[{}]", texts[0]) } else { texts.join(" x ") };
        let numbers = join(shape.dims().iter().map(|dim| dim.size.to_string()).collect());
        if shape.dims().iter().all(|dim| dim.name == 0 && !dim.is_open()) {
            return numbers;
        }
        let names = join(shape.dims().iter().map(|dim| self.extent_text(*dim)).collect());
        let most = if shape.is_open() { "at most " } else { "" };
        format!("{names} ({most}{numbers})")
    }

    /// An extent as it was declared, or as it follows from an open dim.
    pub(super) fn extent_text(&self, dim: Dim) -> String {
        match (dim.name, dim.formula) {
            (0, None) => dim.size.to_string(),
            (0, Some(formula)) => {
                let name = self.graph.open_dims().get(formula.dim).map_or("?", |open| &open.name);
                dim.spelled(name).to_string()
            }
            (name, _) => self.dim_names[usize::from(name)].clone(),
        }
    }

    /// A type as a field of this model would declare it, which has fixed extents: by their names where these are dims here.
    pub(super) fn declared_text(&self, ty: &Type) -> String {
        let here = self.scope.dims.names();
        let dims = ty.shape.dims().iter().map(|dim| match &*self.dim_names[usize::from(dim.name)] {
            name if here.contains(&name) && !dim.is_open() => String::from(name),
            _ => dim.size.to_string(),
        });
        let parts: Vec<String> = std::iter::once(ty.dtype.to_string()).chain(dims).collect();
        format!("Tensor<{}>", parts.join(", "))
    }

    /// Element type and shape.
    pub(super) fn type_text(&self, ty: &Type) -> String {
        match ty.shape.rank() {
            0 => format!("a scalar of {}", ty.dtype),
            _ => format!("{} {}", ty.dtype, self.shape_text(&ty.shape)),
        }
    }

    pub(super) fn dim_text(&self, shape: &Shape, axis: usize) -> String {
        let dim = shape.dims()[axis];
        match (dim.name, dim.is_open()) {
            (0, false) => dim.size.to_string(),
            (_, false) => format!("{} = {}", self.extent_text(dim), dim.size),
            (_, true) => format!("{} <= {}", self.extent_text(dim), dim.size),
        }
    }
}

/// An operand that is a name without its closing quote, or a gap to be filled in.
fn of(operand: &str) -> &str {
    match operand.strip_suffix('`') {
        Some(name) if name.starts_with('`') && !name[1..].contains('`') => name,
        _ => "`(…)",
    }
}

/// What to call an operand: by its role too where another operand, made by the same operator, would be called the same.
fn told_apart(input: usize, place: &Place<'_>, operands: &[Operand]) -> String {
    let text = &operands[input].text;
    let made = |other: &Operand| other.text == *text && other.id != operands[input].id;
    match place.roles.get(input) {
        Some(role) if operands.iter().any(made) && place.roles.iter().filter(|other| *other == role).count() == 1 => {
            format!("{text} ({role})")
        }
        _ => text.clone(),
    }
}

/// How to cast an operand, which is a name or has to stand in parentheses.
pub(super) fn cast(operand: &str, dtype: &str) -> String {
    match operand.strip_prefix('`').and_then(|name| name.strip_suffix('`')) {
        Some(name) if !name.contains('`') => format!("`{name} as {dtype}`"),
        _ => format!("`(…) as {dtype}` of {operand}"),
    }
}
