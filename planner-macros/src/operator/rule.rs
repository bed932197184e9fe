//! From clauses to a rule: operands and extents are looked up, and what could not hold for any call is complained of.

use model_graph_planner::op::own::{Arithmetic, Elements, Extent, Given, MAX_EXTENTS, Pattern, Rule};
use model_graph_planner::op::{self, MAX_OPERANDS, Spec};
use model_graph_planner::{DType, MAX_RANK};
use proc_macro2::Ident;

use super::clauses::{self, Clauses};
use super::settings::Setting;
use crate::ast::plain;
use crate::dims::{DimExpr, Kind};
use crate::error::{Report, list};
use crate::foreign::no_dtype;
use crate::names::nearest;

/// Texts of this attribute's mistakes.
pub(super) mod text {
    pub(crate) const NOT_A_STRUCT: &str = "`#[operator]` is written on a struct whose fields are the operator's settings, \
         or on one without any: `struct Snake;`";
    pub(crate) const TUPLE: &str = "settings need names: `struct Snake { eps: f32 }`, or no fields: `struct Snake;`";
    pub(crate) const GENERIC: &str = "an operator cannot be generic: its settings are values, and its extents come from \
         the operands of each call";
    pub(crate) const KIND: &str =
        "a setting is of `f32`, `usize`, `bool` or `[usize; N]` with a number from 1 to 6 for N";
    pub(crate) const SETTING: &str =
        "a setting has a default, `#[setting(default = 1e-5)]`, or has to be given in each call";
    pub(crate) const MISSING: &str = "nothing says what the operator takes and gives: \
         `#[operator(fn(x: f32[.., N]) -> f32[.., N])]`";
    pub(crate) const SIGNATURE: &str = "what an operator takes and gives is written as `fn(x: f32[.., N]) -> f32[.., N]`; \
         it is called by its struct's name";
    pub(crate) const RESULT: &str =
        "what the operator gives stands after its operands: `fn(x: f32[.., N]) -> f32[.., N]`";
    pub(crate) const ONE_RESULT: &str = "an operator gives one tensor, `-> f32[.., N]`: declare one for each, or let one \
         give them in a dim of its own";
    pub(crate) const OPERAND: &str =
        "an operand is written as `name: f32[.., N]`, or `name?: f32[N]` when it may be left out";
    pub(crate) const PATTERN: &str = "a tensor is written as its element type and its extents: `f32[.., C, N]`, `f32 | i8 [N]`, \
         `x[N]` for elements as those of `x`, or `u32` for a scalar";
    pub(crate) const FIELD: &str =
        "a tensor is written as its element type and, in brackets, its extents, which each call brings";
    pub(crate) const IN_BLOCKS: &str =
        "elements in blocks are those of weights: an operator takes them and gives others, such as `-> f32[N]`";
    pub(crate) const CLAUSES: &str = "the attribute takes `fn(x: f32[.., N]) -> f32[.., N]`, `in_place = x`, \
         `strided = [x, output]`, `scratch = 4 * N` and `crate = path`";
}

/// A text that lasts.
pub(super) fn leaked(text: &str) -> &'static str {
    Box::leak(text.into())
}

/// What a name in an extent stands for.
pub(super) struct Names<'a> {
    pub(super) operator: &'a str,
    settings: &'a [Setting],
    pub(super) operands: Vec<String>,
    /// Names of extents, and whether an operand that is always there brings them.
    extents: Vec<(String, bool)>,
    /// Some clauses could not be read, so that a name which is not here may be declared all the same.
    pub(super) incomplete: bool,
}

/// Resolves the clauses; what is wrong goes to the report.
pub(super) fn rule(name: &str, settings: &[Setting], clauses: &Clauses, report: &mut Report) -> Rule {
    let incomplete = clauses.incomplete;
    let mut names = Names { operator: name, settings, operands: Vec::new(), extents: Vec::new(), incomplete };
    names.operands(clauses, report);
    names.bring(clauses, report);
    let operands: Vec<Pattern> = clauses
        .operands
        .iter()
        .enumerate()
        .map(|(index, operand)| names.pattern(&operand.pattern, index, !operand.optional, report))
        .collect();
    let result = match &clauses.result {
        Some(result) => names.result(result, clauses, report),
        None => Pattern { elements: Elements::OneOf(&[]), leading: false, dims: &[] },
    };
    let in_place = names.listed(&clauses.in_place, false, report).0;
    for (index, at) in &in_place {
        names.fits_in_place(*index, at, clauses, &operands, &result, report);
    }
    let (strided, strided_output) = names.listed(&clauses.strided, true, report);
    let places = |listed: Vec<(usize, &Ident)>| -> &'static [usize] {
        Box::leak(listed.into_iter().map(|(index, _)| index).collect())
    };
    let scratch = match &clauses.scratch {
        Some(bytes) => names.extent(bytes, true, report),
        None => Extent::Number(0),
    };
    let spec = Spec {
        name: leaked(name),
        doc: "",
        operands: Box::leak(names.operands.iter().map(|name| leaked(name)).collect()),
        optional: clauses.operands.iter().filter(|operand| operand.optional).count(),
        variadic: false,
        settings: Box::leak(settings.iter().map(described).collect()),
    };
    Rule {
        spec,
        kinds: Box::leak(settings.iter().map(|setting| setting.kind).collect()),
        extents: Box::leak(names.extents.iter().map(|(name, _)| leaked(name)).collect()),
        operands: Box::leak(operands.into()),
        result,
        in_place: places(in_place),
        strided: places(strided),
        strided_output,
        scratch,
    }
}

fn described(setting: &Setting) -> op::Setting {
    let default = setting.default.as_ref().map(|default| {
        leaked(&match default {
            Given::Usize(value) => value.to_string(),
            Given::F32(value) => format!("{value:?}"),
            Given::Bool(value) => value.to_string(),
            Given::Usizes(values) => format!("{values:?}"),
        })
    });
    op::Setting { name: leaked(&plain(&setting.name)), expects: setting.expects, default }
}

impl Names<'_> {
    /// Looks through the operands' names.
    fn operands(&mut self, clauses: &Clauses, report: &mut Report) {
        let mut optional = false;
        for operand in &clauses.operands {
            let name = plain(&operand.name);
            if self.operands.contains(&name) {
                report.add(&operand.name, format!("there are two operands called `{name}`; give one another name"));
            } else if self.settings.iter().any(|setting| setting.name == operand.name) {
                let text = format!("`{name}` is a setting already; give the operand another name");
                report.add(&operand.name, text);
            } else if name == "output" {
                let text = "`output` is what the result is called in `strided`; give the operand another name";
                report.add(&operand.name, text);
            } else if self.operands.len() == MAX_OPERANDS {
                report.add(&operand.name, format!("an operator takes at most {MAX_OPERANDS} operands"));
            } else if optional && !operand.optional {
                let text = format!(
                    "`{name}` comes after an operand that may be left out; put it before that one, or write `{name}?`"
                );
                report.add(&operand.name, text);
            }
            optional |= operand.optional;
            self.operands.push(name);
        }
    }

    /// Gathers the extents' names: those that stand alone for an extent of an operand.
    fn bring(&mut self, clauses: &Clauses, report: &mut Report) {
        for operand in &clauses.operands {
            for dim in &operand.pattern.dims {
                let Kind::Name(ident) = &dim.kind else { continue };
                let name = plain(ident);
                if self.settings.iter().any(|setting| setting.name == *ident) {
                    continue;
                }
                if self.operands.contains(&name) {
                    report.add(ident, format!("`{name}` is an operand already; give the extent another name"));
                }
                let count = self.extents.len();
                match self.extents.iter_mut().find(|(known, _)| *known == name) {
                    Some((_, always)) => *always |= !operand.optional,
                    None if count == MAX_EXTENTS => {
                        report.add(ident, format!("a rule names at most {MAX_EXTENTS} extents"));
                    }
                    None => self.extents.push((name, !operand.optional)),
                }
            }
        }
    }

    /// A pattern of operand `index`, or of the result, which comes after them all.
    fn pattern(&self, pattern: &clauses::Pattern, index: usize, always: bool, report: &mut Report) -> Pattern {
        let mut dtypes = Vec::new();
        let mut like = None;
        for (at, element) in pattern.elements.iter().enumerate() {
            let name = plain(element);
            if pattern.elements[..at].iter().any(|other| plain(other) == name) {
                report.add(element, format!("`{name}` is named twice; name it once"));
                continue;
            }
            match (DType::from_name(&name), self.operands.iter().position(|operand| *operand == name)) {
                (Some(dtype), _) => dtypes.push(dtype),
                (None, Some(operand)) if operand < index => {
                    like = Some(operand);
                    if pattern.elements.len() > 1 {
                        let text = format!("elements as those of `{name}` stand alone: `{name}[…]`");
                        report.add(element, text);
                    }
                }
                (None, Some(_)) => {
                    let text = format!("operand `{name}` is not declared before this; say its element type here");
                    report.add(element, text);
                }
                (None, None) => {
                    let before: Vec<&str> = self.operands[..index].iter().map(String::as_str).collect();
                    report.add(element, no_dtype(&name, &before));
                }
            }
        }
        if pattern.dims.len() > MAX_RANK {
            report.add(pattern.at, format!("a tensor has at most {MAX_RANK} dimensions"));
        }
        let dims: Vec<Extent> = pattern.dims.iter().map(|dim| self.extent(dim, always, report)).collect();
        Pattern {
            elements: like.map_or_else(|| Elements::OneOf(Box::leak(dtypes.into())), Elements::Like),
            leading: pattern.leading.is_some(),
            dims: Box::leak(dims.into()),
        }
    }

    fn result(&self, result: &clauses::Pattern, clauses: &Clauses, report: &mut Report) -> Pattern {
        if result.elements.len() > 1 {
            let text =
                "the result has one element type; write that, or the name of the operand whose it is, such as `x[…]`";
            report.add(result.elements[1].span(), text);
        }
        for element in &result.elements {
            if DType::from_name(&plain(element)).is_some_and(DType::is_quantised) {
                report.add(element, text::IN_BLOCKS);
            }
            let operand = clauses.operands.iter().find(|operand| operand.name == *element);
            if operand.is_some_and(|operand| operand.optional) {
                let text = format!("`{element}` may be left out, and then nothing says what the result's elements are");
                report.add(element, text);
            }
        }
        let leads = clauses.operands.iter().any(|operand| operand.pattern.leading.is_some() && !operand.optional);
        if let (Some(dots), false, false) = (result.leading, leads, self.incomplete) {
            let text = "`..` stands for the leading dims of an operand, and no operand that is always given has any; write \
                        `..` there too: `x: f32[.., N]`";
            report.add(dots, text);
        }
        let mut resolved = self.pattern(result, self.operands.len(), true, report);
        if let Elements::Like(operand) = resolved.elements {
            let clauses::Pattern { elements, .. } = &clauses.operands[self.root(operand, clauses)].pattern;
            let dtypes = elements.iter().filter_map(|element| DType::from_name(&plain(element)));
            if let Some(dtype) = dtypes.into_iter().find(|dtype| dtype.is_quantised()) {
                let text = format!(
                    "`{}` can be {dtype}, whose elements in blocks are those of weights: an operator takes them and gives \
                     others; write the result's own element type, such as `-> f32[N]`",
                    self.operands[operand]
                );
                report.add(&result.elements[0], text);
            }
        }
        // Scalars and the like: where leading dims were complained of, nothing is said twice.
        resolved.leading &= leads;
        resolved
    }

    /// The operand that says which elements operand `index` has: another one when they are as that one's.
    fn root(&self, index: usize, clauses: &Clauses) -> usize {
        let mut root = index;
        // Each is declared before the one that refers to it.
        while let [like] = &clauses.operands[root].pattern.elements[..]
            && let Some(other) = self.operands[..root].iter().position(|operand| *operand == plain(like))
            && DType::from_name(&plain(like)).is_none()
        {
            root = other;
        }
        root
    }

    /// An extent. `always` where it has to be known without the operands that may be left out.
    fn extent(&self, dim: &DimExpr, always: bool, report: &mut Report) -> Extent {
        match &dim.kind {
            Kind::Number(number) => Extent::Number(usize::try_from(*number).unwrap_or(usize::MAX)),
            Kind::Name(ident) => self.name(ident, always, report),
            Kind::Binary(sign, left, right) => {
                let before = report.len();
                let of = match sign {
                    '+' => Arithmetic::Add,
                    '-' => Arithmetic::Sub,
                    '*' => Arithmetic::Mul,
                    _ => Arithmetic::Div,
                };
                let mut side = |side: &DimExpr| {
                    let extent: &'static Extent = Box::leak(Box::new(self.extent(side, always, report)));
                    extent
                };
                let (left, right) = (side(left), side(right));
                let number = |extent: &Extent| match extent {
                    Extent::Number(number) => Some(*number),
                    _ => None,
                };
                let wrong = match (sign, number(left), number(right)) {
                    // Sides that were complained of are numbers too.
                    _ if report.len() > before => None,
                    ('/', _, Some(0)) => Some("divides by zero; divide by 1 or more"),
                    ('-', Some(left), Some(right)) if left < right => Some("goes below zero; an extent is at least 0"),
                    ('/', Some(left), Some(right)) if left % right > 0 => {
                        Some("leaves a remainder; an extent is a whole number")
                    }
                    _ => None,
                };
                if let Some(wrong) = wrong {
                    report.add(dim.at, format!("`{}` {wrong}", dim.text()));
                }
                Extent::Of(of, left, right)
            }
        }
    }

    fn name(&self, ident: &Ident, always: bool, report: &mut Report) -> Extent {
        let name = plain(ident);
        if let Some(setting) = self.settings.iter().position(|setting| setting.name == *ident) {
            let Setting { kind, expects, .. } = &self.settings[setting];
            if *kind != op::own::Kind::Usize {
                let text =
                    format!("the setting `{name}` is {expects}, and an extent is worked out of settings of `usize`");
                report.add(ident, text);
            }
            return Extent::Setting(setting);
        }
        match self.extents.iter().position(|(known, _)| *known == name) {
            Some(extent) => {
                if always && !self.extents[extent].1 {
                    let text =
                        format!("only an operand that may be left out says what `{name}` is; use another extent here");
                    report.add(ident, text);
                }
                return Extent::Name(extent);
            }
            None if self.incomplete => {}
            None if self.operands.contains(&name) => {
                let text = format!(
                    "`{name}` is an operand, and an extent is one of the names in its brackets, such as `N` of `x: f32[.., N]`"
                );
                report.add(ident, text);
            }
            None => {
                let mut known: Vec<&str> = self.extents.iter().map(|(name, _)| name.as_str()).collect();
                let sizes = self.settings.iter().filter(|setting| setting.kind == op::own::Kind::Usize);
                let sizes: Vec<String> = sizes.map(|setting| plain(&setting.name)).collect();
                known.extend(sizes.iter().map(String::as_str));
                let advice = match (nearest(&name, known.iter().copied()), &known[..]) {
                    (Some(near), _) => format!("did you mean `{near}`?"),
                    (None, []) => String::from("an operand brings an extent by its name alone: `x: f32[.., N]`"),
                    (None, known) => format!("the operands bring {}", list(known)),
                };
                report.add(ident, format!("no operand of `{}` says what `{name}` is; {advice}", self.operator));
            }
        }
        Extent::Number(0)
    }
}
