//! Extents: numbers, names from `dims(…)` and arithmetic on them.

use std::collections::{BTreeMap, BTreeSet};

use model_graph_planner::Dim;
use proc_macro2::Ident;
use syn::parse::{Parse, ParseStream};
use syn::{LitInt, Token, braced, parenthesized, token};

use crate::error::{At, Report, suggestion, text};
use crate::expr::MAX_DEPTH;
use crate::names::nearest;

/// An expression of extents.
#[derive(Clone)]
pub(crate) struct DimExpr {
    pub(crate) at: At,
    pub(crate) kind: Kind,
    depth: usize,
}

#[derive(Clone)]
pub(crate) enum Kind {
    Number(u64),
    Name(Ident),
    Binary(char, Box<DimExpr>, Box<DimExpr>),
}

impl DimExpr {
    /// A bare name.
    pub(crate) fn name(ident: Ident) -> DimExpr {
        DimExpr { at: At::from(&ident), kind: Kind::Name(ident), depth: 1 }
    }

    /// The expression as one would write it.
    pub(crate) fn text(&self) -> String {
        match &self.kind {
            Kind::Number(number) => number.to_string(),
            Kind::Name(name) => name.to_string(),
            Kind::Binary(op, left, right) => {
                let side = |side: &DimExpr| match &side.kind {
                    Kind::Binary(inner, ..) if matches!((op, inner), ('*' | '/', '+' | '-')) => {
                        format!("({})", side.text())
                    }
                    _ => side.text(),
                };
                format!("{} {op} {}", side(left), side(right))
            }
        }
    }

    /// The number, when it is a bare one.
    pub(crate) fn number(&self) -> Option<u64> {
        match self.kind {
            Kind::Number(number) => Some(number),
            _ => None,
        }
    }

    /// True when it is a bare name.
    pub(crate) fn is_name(&self) -> bool {
        matches!(self.kind, Kind::Name(_))
    }

    /// True when a name stands in it.
    pub(crate) fn has_name(&self) -> bool {
        match &self.kind {
            Kind::Number(_) => false,
            Kind::Name(_) => true,
            Kind::Binary(_, left, right) => left.has_name() || right.has_name(),
        }
    }

    /// The first name in it of which that holds.
    pub(crate) fn find_name(&self, holds: &dyn Fn(&Ident) -> bool) -> Option<&Ident> {
        match &self.kind {
            Kind::Number(_) => None,
            Kind::Name(name) => Some(name).filter(|name| holds(name)),
            Kind::Binary(_, left, right) => left.find_name(holds).or_else(|| right.find_name(holds)),
        }
    }

    /// Its value, which has to be fixed, or `None` after a complaint.
    pub(crate) fn value(&self, dims: &Dims, report: &mut Report) -> Option<usize> {
        let dim = self.dim(dims, report)?;
        if dim.is_open() {
            report.add(self.at, format!("`{}` follows from an open dim: {}", self.text(), text::OPEN_NUMBER));
        }
        dim.fixed()
    }

    /// The extent, or `None` after a complaint.
    pub(crate) fn dim(&self, dims: &Dims, report: &mut Report) -> Option<Dim> {
        match &self.kind {
            Kind::Number(number) => match usize::try_from(*number) {
                Ok(number) => Some(Dim::new(number)),
                Err(_) => {
                    report.add(self.at, format!("{number} does not fit an address"));
                    None
                }
            },
            Kind::Name(name) => dims.get(name, report),
            Kind::Binary(op, left, right) => {
                let (left, right) = (left.dim(dims, report), right.dim(dims, report));
                let (left, right) = (left?, right?);
                let (Some(first), Some(second)) = (left.fixed(), right.fixed()) else {
                    let value = open_arithmetic(*op, left, right);
                    let complaint = |why| report.add(self.at, format!("`{}` {why}", self.text()));
                    return value.map_err(complaint).ok();
                };
                let (left, right) = (first, second);
                let (value, why, advice) = match op {
                    '+' => (left.checked_add(right), "overflows", ""),
                    '-' => (left.checked_sub(right), "goes below zero", "; an extent is 0 or more"),
                    '*' => (left.checked_mul(right), "overflows", ""),
                    _ if right == 0 => (None, "divides by zero", "; divide by 1 or more"),
                    _ => (
                        left.is_multiple_of(right).then(|| left / right),
                        "leaves a remainder",
                        "; an extent is a whole number: make the one a multiple of the other",
                    ),
                };
                if value.is_none() {
                    let (text, numbers) = (self.text(), format!("{left} {op} {right}"));
                    let numbers = if text == numbers { String::new() } else { format!(": {numbers}") };
                    report.add(self.at, format!("`{text}` {why}{numbers}{advice}"));
                }
                value.map(Dim::new)
            }
        }
    }
}

/// Arithmetic on open dims, or what is wrong with it.
fn open_arithmetic(op: char, left: Dim, right: Dim) -> Result<Dim, String> {
    match op {
        '+' => left.joined(right).ok_or_else(|| together(left, right, "is the sum of two open dims")),
        '-' => left.without(right).ok_or_else(|| match (left.fixed(), right.fixed()) {
            (Some(_), None) => String::from(
                "would shrink where its open dim grows, and memory is planned for the largest value; declare what is left \
                 as a dim of its own",
            ),
            (_, Some(less)) => {
                let rest = left.size.saturating_sub(less).max(1);
                format!(
                    "goes below zero where its open dim is 1; declare the difference, `dims(REST <= {rest})`, and write \
                     `{{REST + {less}}}` for the sum"
                )
            }
            _ => together(left, right, "is the difference of two open dims"),
        }),
        '*' => match (left.fixed(), right.fixed()) {
            (_, Some(count)) => left.times(count).ok_or_else(|| String::from("overflows")),
            (Some(count), _) => right.times(count).ok_or_else(|| String::from("overflows")),
            _ => Err(together(left, right, "is the product of two open dims")),
        },
        _ => match right.fixed() {
            Some(0) => Err(String::from("divides by zero")),
            Some(parts) => left.over_exactly(parts).ok_or_else(|| {
                format!(
                    "leaves a rest for some values of its open dim; declare the quotient open, such as \
                     `dims(PART <= n)`, and write `{{{parts} * PART}}` for the whole"
                )
            }),
            None => Err(String::from("divides by an open dim, and an extent grows with its dim; divide by a number")),
        },
    }
}

fn together(left: Dim, right: Dim, what: &str) -> String {
    match left.formula.zip(right.formula) {
        Some((left, right)) if left.dim == right.dim && what.contains("sum") => String::from("overflows"),
        _ => format!("{what}, and an extent follows from one; declare a dim for it"),
    }
}

/// One extent as it stands in a type: a number, a name, or an expression in braces.
pub(crate) fn extent(input: ParseStream<'_>) -> syn::Result<DimExpr> {
    if input.peek(syn::LitInt) || input.peek(token::Brace) || input.peek(syn::Ident) {
        atom(input)
    } else {
        Err(input.error(text::EXTENT))
    }
}

impl Parse for DimExpr {
    fn parse(input: ParseStream<'_>) -> syn::Result<DimExpr> {
        let mut left = term(input)?;
        while input.peek(Token![+]) || input.peek(Token![-]) {
            left = binary(input, left, term)?;
        }
        Ok(left)
    }
}

fn term(input: ParseStream<'_>) -> syn::Result<DimExpr> {
    let mut left = atom(input)?;
    while input.peek(Token![*]) || input.peek(Token![/]) {
        left = binary(input, left, atom)?;
    }
    Ok(left)
}

fn binary(
    input: ParseStream<'_>,
    left: DimExpr,
    side: fn(ParseStream<'_>) -> syn::Result<DimExpr>,
) -> syn::Result<DimExpr> {
    let op: proc_macro2::Punct = input.parse()?;
    let right = side(input)?;
    let depth = left.depth.max(right.depth) + 1;
    if depth > MAX_DEPTH {
        return Err(syn::Error::new(op.span(), text::TOO_DEEP));
    }
    let at = left.at.to(right.at);
    Ok(DimExpr { at, kind: Kind::Binary(op.as_char(), Box::new(left), Box::new(right)), depth })
}

fn atom(input: ParseStream<'_>) -> syn::Result<DimExpr> {
    if input.peek(LitInt) {
        let number: LitInt = input.parse()?;
        let digits = number.base10_digits();
        if !matches!(number.suffix(), "" | "usize") {
            let text = format!("an extent has no type of its own: write `{digits}` instead of `{number}`");
            return Err(syn::Error::new(number.span(), text));
        }
        if digits.starts_with('-') {
            return Err(syn::Error::new(number.span(), format!("an extent cannot be below zero, as {number} is")));
        }
        let value = number
            .base10_parse()
            .map_err(|_| syn::Error::new(number.span(), format!("{number} does not fit an address")))?;
        Ok(DimExpr { at: At::token(number.span()), kind: Kind::Number(value), depth: 1 })
    } else if input.peek(token::Brace) || input.peek(token::Paren) {
        let content;
        let span = if input.peek(token::Brace) {
            braced!(content in input).span.join()
        } else {
            parenthesized!(content in input).span.join()
        };
        let mut inner: DimExpr = content.parse()?;
        if !content.is_empty() {
            return Err(content.error(text::EXTENT));
        }
        inner.at = At::token(span);
        Ok(inner)
    } else if input.peek(syn::Ident) {
        Ok(DimExpr::name(input.parse()?))
    } else {
        Err(input.error(text::EXTENT))
    }
}

/// The declared dims and their values.
#[derive(Default)]
pub(crate) struct Dims {
    values: BTreeMap<String, Option<Dim>>,
    order: Vec<(Ident, Dim)>,
    /// Not all declarations could be read; a name that is not here may be declared all the same.
    incomplete: bool,
    /// Names that are declared, but further on.
    later: BTreeSet<String>,
    /// Names of tensors.
    tensors: BTreeSet<String>,
}

impl Dims {
    /// No dims yet; `incomplete` when some declarations could not be read.
    pub(crate) fn new(incomplete: bool) -> Dims {
        Dims { incomplete, ..Dims::default() }
    }

    /// True when the name may be that of a dim whose declaration could not be read.
    pub(crate) fn may_contain(&self, name: &Ident) -> bool {
        self.contains(name) || self.incomplete
    }

    /// Says which names are dims that come further on, and which are tensors: neither is simply unknown.
    pub(crate) fn foresee(&mut self, later: BTreeSet<String>, tensors: BTreeSet<String>) {
        (self.later, self.tensors) = (later, tensors);
    }

    /// Adds a dim. `None` stands for one whose value could not be found; it is known, so that uses are not complained
    /// of again.
    pub(crate) fn declare(&mut self, name: &Ident, value: Option<Dim>) {
        self.values.insert(name.to_string(), value);
        if let Some(value) = value {
            self.order.push((name.clone(), value));
        }
    }

    /// True when a dim of that name is declared.
    pub(crate) fn contains(&self, name: &Ident) -> bool {
        self.values.contains_key(&name.to_string())
    }

    /// Names and values in the order of declaration.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &(Ident, Dim)> {
        self.order.iter()
    }

    /// The names.
    pub(crate) fn names(&self) -> Vec<&str> {
        self.values.keys().map(String::as_str).collect()
    }

    fn get(&self, name: &Ident, report: &mut Report) -> Option<Dim> {
        match self.values.get(&name.to_string()) {
            Some(value) => *value,
            None if self.incomplete => None,
            None if self.tensors.contains(&name.to_string()) => {
                report.add(name, format!("`{name}` is a tensor, and {}", text::EXTENT));
                None
            }
            None if self.later.contains(&name.to_string()) => {
                report.add(name, format!("dim `{name}` is declared further on; declare it before it is used"));
                None
            }
            None => {
                let known = self.names();
                let near = nearest(&name.to_string(), known.iter().copied());
                let advice = match (near, known.is_empty()) {
                    (None, true) => {
                        format!("write `dims({name} = n)` in the attribute, which sees no constants of Rust")
                    }
                    (None, false) => format!(
                        "{}; the attribute sees no constants of Rust: write `{name} = n` in its `dims(…)`",
                        suggestion(near, &known)
                    ),
                    (near, _) => suggestion(near, &known),
                };
                report.add(name, format!("there is no dim `{name}`; {advice}"));
                None
            }
        }
    }
}
