//! The attribute `#[operator]`: an operator that a user's crate declares. Its rule becomes a constant of the struct, and
//! next to the struct stands a macro of its name, which hands the declaration to the models that call it.

mod clauses;
pub(crate) mod emit;
mod fit;
mod rule;
mod settings;

use std::collections::BTreeMap;
use std::sync::Mutex;

use model_graph_planner::op::own::{Given, Rule};
use proc_macro2::{Ident, TokenStream, TokenTree};
use quote::quote;
use syn::{DeriveInput, Path, Visibility};

use crate::ast::plain;
use crate::compose::hand_over;
use crate::error::{At, Report, parse_within, text, too_nested};

/// An operator as it was declared.
pub(crate) struct Declared {
    pub(crate) rule: &'static Rule,
    /// The settings' defaults, in order.
    pub(crate) defaults: Vec<Option<Given>>,
    krate: Path,
}

/// The whole attribute: clauses and item in, item or complaints out. `place` is where it stands.
pub(crate) fn operator(attribute: TokenStream, item: TokenStream, place: &str) -> TokenStream {
    let mut report = Report::default();
    if let Some(group) = too_nested(&attribute).or_else(|| too_nested(&item)) {
        report.add(group, text::TOO_DEEP);
        return quote! { #report #item };
    }
    let (input, declared) = match declare(&attribute, &item, &mut report) {
        (Some(input), declared) => (input, declared),
        (None, _) => {
            let name = name_of(&item);
            let vis = syn::parse_quote!(pub);
            let left = name.map(|name| hand_over(&vis, &name, "", &quote! { {broken_operator} {} {} {} }));
            let rejected = crate::expand::rejected(&report, item);
            return quote! { #rejected #left };
        }
    };
    let kind = if report.is_empty() { quote!(operator) } else { quote!(broken_operator) };
    let DeriveInput { vis, ident: name, .. } = &input;
    let place = match vis {
        Visibility::Public(_) => format!("{place} {attribute} {item}"),
        _ => String::new(),
    };
    let hand_over = hand_over(vis, name, &place, &quote! { {#kind} {#attribute} {#item} {} });
    let emitted = emit::emit(&input, &declared, report.is_empty());
    quote! { #report #emitted #hand_over }
}

/// An operator from what its macro handed over, which was complained of where it stands.
pub(crate) fn read(attribute: &TokenStream, item: &TokenStream) -> Option<Declared> {
    let mut report = Report::default();
    let (input, declared) = declare(attribute, item, &mut report);
    input.filter(|_| report.is_empty()).map(|_| declared)
}

/// Reads the struct and the clauses; `None` in place of the struct when it is none.
fn declare(attribute: &TokenStream, item: &TokenStream, report: &mut Report) -> (Option<DeriveInput>, Declared) {
    let end = At::tokens(item).end();
    let input = parse_within(item.clone(), end, |input| {
        let parsed: DeriveInput = input.parse()?;
        Ok(parsed)
    });
    let input = match input {
        Ok(input) => Some(input),
        Err(error) => {
            let text = error.to_string();
            match text.contains("expected one of: `struct`") {
                true => report.add(At::token(error.span()), rule::text::NOT_A_STRUCT),
                false => report.syntax(&error),
            }
            None
        }
    };
    let settings = input.as_ref().map(|input| settings::settings(input, report)).unwrap_or_default();
    let name = input.as_ref().map(|input| plain(&input.ident)).unwrap_or_default();
    if let Some(input) = input.as_ref().filter(|_| !name.starts_with(char::is_uppercase)) {
        let text = format!(
            "an operator's name starts with a capital letter, as types do: `{name}(…)` would be one of the language's own; \
             call it `{}`",
            capital(&name)
        );
        report.add(&input.ident, text);
    }
    let clauses = clauses::clauses(attribute.clone(), report);
    if let (true, Some(input)) = (clauses.missing, &input) {
        report.add(&input.ident, rule::text::MISSING);
    }
    let krate = clauses.krate.clone().unwrap_or_else(|| syn::parse_quote!(::model_graph));
    let defaults = settings.iter().map(|setting| setting.default.clone()).collect();
    // In an editor a declaration is read over and over again by one process.
    let key = format!("{attribute} {item}");
    let rule = match RULES.lock().ok().and_then(|rules| rules.get(&key).copied()) {
        Some(rule) => rule,
        None => {
            let before = report.len();
            let rule: &'static Rule = Box::leak(Box::new(rule::rule(&name, &settings, &clauses, report)));
            if let (true, Ok(mut rules)) = (report.len() == before && report.is_empty(), RULES.lock()) {
                rules.insert(key, rule);
            }
            rule
        }
    };
    (input, Declared { rule, defaults, krate })
}

/// The rules that were read, by their declarations: what asks them wants them to last.
static RULES: Mutex<BTreeMap<String, &'static Rule>> = Mutex::new(BTreeMap::new());

/// The name of a struct that could not be read, so that whoever uses it has nothing to complain of.
fn name_of(item: &TokenStream) -> Option<Ident> {
    let mut trees = item.clone().into_iter();
    trees.by_ref().find(|tree| matches!(tree, TokenTree::Ident(word) if word == "struct"))?;
    match trees.next() {
        Some(TokenTree::Ident(name)) => syn::parse2(quote! { #name }).ok(),
        _ => None,
    }
}

/// `snake_beta` as `SnakeBeta`.
fn capital(name: &str) -> String {
    let capital = |word: &str| {
        let mut letters = word.chars();
        letters.next().map(|first| first.to_uppercase().chain(letters).collect::<String>()).unwrap_or_default()
    };
    name.split('_').map(capital).collect()
}
