//! From tokens to a [`Model`]. Every field is read by itself, so that a mistake in one hides none in another.

mod role;

use std::collections::BTreeMap;

use proc_macro2::{Delimiter, Spacing, TokenStream, TokenTree};
use syn::parse::ParseStream;
use syn::{Attribute, Ident, Path, Token, Visibility, bracketed, token};

use crate::ast::{Field, Model, Role, Settings, Type};
use crate::dims::{DimExpr, extent};
use crate::error::{At, Report, parse_within, suggestion, text};
use crate::names::nearest;

use role::read_role;

const ROLES: &[&str] = &["input", "weight", "state", "constant", "node", "output", "chain"];

/// Reads the struct; `None` when it is none.
pub(crate) fn model(settings: Settings, item: TokenStream, report: &mut Report) -> Option<Model> {
    let mut body = None;
    let end = At::tokens(item.clone()).end();
    let head = |input: ParseStream<'_>| -> syn::Result<(Vec<Attribute>, Visibility, Ident)> {
        let attributes = input.call(Attribute::parse_outer)?;
        let vis: Visibility = input.parse()?;
        if !input.peek(Token![struct]) {
            return Err(input.error(text::NOT_A_STRUCT));
        }
        input.parse::<Token![struct]>()?;
        let name: Ident = input.parse()?;
        if input.peek(Token![<]) || input.peek(Token![where]) {
            return Err(input.error(text::GENERICS));
        }
        let group: proc_macro2::Group = match input.parse::<TokenTree>() {
            Ok(TokenTree::Group(group)) if group.delimiter() == Delimiter::Brace => group,
            Ok(TokenTree::Group(group)) => return Err(syn::Error::new(group.span(), text::TUPLE_STRUCT)),
            _ => return Err(syn::Error::new(name.span(), text::UNIT_STRUCT)),
        };
        body = Some(group);
        input.parse::<TokenStream>()?;
        Ok((attributes, vis, name))
    };
    let (attributes, vis, name) = match parse_within(item, end, head) {
        Ok(head) => head,
        Err(error) => {
            report.syntax(&error);
            return None;
        }
    };
    derives(&attributes, report);
    let fields = split(body?.stream()).into_iter().filter_map(|tokens| field(tokens, report)).collect();
    Some(Model { settings, attributes, vis, name, fields, blocks: BTreeMap::new(), operators: BTreeMap::new() })
}

/// Complains of derives that would make no sense on the struct that is emitted.
fn derives(attributes: &[Attribute], report: &mut Report) {
    for attribute in attributes.iter().filter(|attribute| attribute.path().is_ident("derive")) {
        let parser = syn::punctuated::Punctuated::<Path, Token![,]>::parse_terminated;
        for path in attribute.parse_args_with(parser).into_iter().flatten() {
            let Some(last) = path.segments.last() else { continue };
            if last.ident != "Debug" {
                report.add(At::tokens(&path), format!("`{}` cannot be derived: {}", last.ident, text::DERIVE));
            }
        }
    }
}

/// Splits a struct's body at the commas between its fields. A comma before an attribute ends a field whatever stands
/// before it, so that a forgotten `>` swallows no other field.
fn split(body: TokenStream) -> Vec<TokenStream> {
    let mut fields = Vec::new();
    let mut current = Vec::new();
    let mut depth = 0usize;
    let mut body = body.into_iter().peekable();
    while let Some(tree) = body.next() {
        if let TokenTree::Punct(punct) = &tree {
            let attribute = matches!(body.peek(), Some(TokenTree::Punct(next)) if next.as_char() == '#');
            match punct.as_char() {
                ',' if attribute => depth = 0,
                _ => {}
            }
            match punct.as_char() {
                '<' => depth += 1,
                '>' if punct.spacing() == Spacing::Alone || depth > 0 => depth = depth.saturating_sub(1),
                ',' if depth == 0 => {
                    fields.push(current.drain(..).collect::<TokenStream>());
                    continue;
                }
                _ => {}
            }
        }
        current.push(tree);
    }
    if !current.is_empty() {
        fields.push(current.into_iter().collect());
    }
    fields
}

fn field(tokens: TokenStream, report: &mut Report) -> Option<Field> {
    let mut ty = None;
    let head = |input: ParseStream<'_>| {
        let outer = input.call(Attribute::parse_outer);
        let attributes = outer.map_err(|error| syn::Error::new(error.span(), text::ATTRIBUTE))?;
        let vis: Visibility = input.parse()?;
        let name: Ident = input.parse().map_err(|_| input.error(text::FIELD))?;
        input.parse::<Token![:]>().map_err(|_| input.error(text::FIELD))?;
        ty = Some(input.parse::<TokenStream>()?);
        Ok((attributes, vis, name))
    };
    let end = At::tokens(tokens.clone()).end();
    let (attributes, vis, name) = match parse_within(tokens.clone(), end, head) {
        Ok(head) => head,
        Err(error) => {
            match error.to_string() {
                // What is left over between an attribute's brackets.
                text if text.contains("expected `]`") => report.add(error.span(), text::ATTRIBUTE),
                _ => report.syntax(&error),
            }
            return salvaged(tokens);
        }
    };
    let chain = attributes.iter().any(|attribute| attribute.path().is_ident("chain"));
    let mut field = Field { ty: tensor_type(ty.unwrap_or_default(), &name, chain, report), ..broken(vis, name) };
    let mut role: Option<Ident> = None;
    let mut strange = false;
    for attribute in attributes {
        let Some(word) = attribute.path().get_ident().cloned() else {
            field.docs.push(attribute);
            continue;
        };
        match crate::ast::plain(&word).as_str() {
            "doc" | "deprecated" | "cfg_attr" => field.docs.push(attribute),
            "cfg" => report.add(
                &word,
                "a field cannot depend on `cfg`: the plan is made before it is decided; put the \
                 `cfg` on a second version of the whole struct",
            ),
            "allow" | "expect" => {
                let tokens = attribute.meta.require_list().map(|list| list.tokens.to_string()).unwrap_or_default();
                if tokens.split(',').any(|lint| matches!(lint.trim(), "unused" | "dead_code")) {
                    field.allow_unused = true;
                } else {
                    field.docs.push(attribute);
                }
            }
            "keep" => {
                if attribute.meta.require_path_only().is_err() {
                    report.add(&word, "`#[keep]` takes nothing: write `#[keep]`");
                }
                if field.keep.replace(word.span()).is_some() {
                    report.add(&word, "`#[keep]` is given twice; once is enough");
                }
            }
            plain if ROLES.contains(&plain) => {
                if let Some(first) = &role {
                    let what = if *first == word { "twice" } else { &format!("and the role `{first}`") };
                    let text =
                        format!("`{}` has the role `{word}` {what}; a tensor has one: remove the other", field.name);
                    report.add(&word, text);
                    continue;
                }
                role = Some(word.clone());
                match read_role(plain, &attribute) {
                    Ok(read) => field.role = read,
                    Err(error) => report.syntax(&error),
                }
            }
            plain => {
                let known: Vec<&str> = ROLES.iter().copied().chain(["keep", "doc", "allow"]).collect();
                let near = nearest(plain, known.iter().copied());
                let advice = match near.is_none() && model_graph_planner::op::find(plain).is_some() {
                    true => format!("an operator stands in an expression: `#[node({plain}(…))]`"),
                    false => suggestion(near, &known),
                };
                report.add(&word, format!("there is no attribute `{plain}` for a tensor; {advice}"));
                strange = true;
            }
        }
    }
    if role.is_none() && !strange {
        let chain = matches!(field.ty, Type::Chain { .. });
        report.add(&field.name, if chain { text::CHAIN_NO_ROLE } else { text::NO_ROLE });
    }
    if let Some(keep) = field.keep {
        let advice = match &field.role {
            Role::Input { .. } => Some("write `#[input(keep)]` to keep an input"),
            Role::Weight { .. } => Some("a weight always lives; remove `#[keep]`"),
            Role::State => Some("a state always lives; remove `#[keep]`"),
            Role::Constant(_) | Role::ConstantFill(_) => Some("a constant always lives; remove `#[keep]`"),
            Role::Output(_) => Some("an output can be read after forward anyway; remove `#[keep]`"),
            Role::Node(_) | Role::Chain { .. } | Role::Broken => None,
        };
        if let Some(advice) = advice {
            report.add(keep, format!("`#[keep]` is for `#[node(…)]`: {advice}"));
        }
    }
    match (&field.ty, &field.role) {
        (Type::Chain { block, .. }, role) if !matches!(role, Role::Chain { .. } | Role::Broken) => {
            report.add(block.at, text::CHAIN_ROLE);
            field.ty = Type::Broken;
            field.role = Role::Broken;
        }
        (Type::Infer(_) | Type::Tensor { .. }, Role::Chain { .. }) => {
            report.add(At::from(role.as_ref().unwrap_or(&field.name)), text::CHAIN_TYPE);
            field.role = Role::Broken;
        }
        _ => {}
    }
    Some(field)
}

/// A field of which nothing but the name is known.
fn broken(vis: Visibility, name: Ident) -> Field {
    Field { docs: Vec::new(), vis, role: Role::Broken, keep: None, allow_unused: false, ty: Type::Broken, name }
}

/// The name of a field that cannot be read, so that its uses are not complained of as well.
fn salvaged(tokens: TokenStream) -> Option<Field> {
    let name = tokens.into_iter().find_map(|tree| match tree {
        TokenTree::Ident(word) if word != "pub" => Some(word),
        _ => None,
    });
    Some(broken(Visibility::Inherited, name?))
}

/// `Tensor<dtype, extents…>`, `_` or `[Block; n]`.
fn tensor_type(tokens: TokenStream, name: &Ident, chain: bool, report: &mut Report) -> Type {
    let at = At::tokens(tokens.clone());
    if tokens.is_empty() {
        report.add(name, text::TYPE);
        return Type::Broken;
    }
    let parse = |input: ParseStream<'_>| -> syn::Result<Type> {
        if input.peek(Token![_]) {
            let infer: Token![_] = input.parse()?;
            return if input.is_empty() { Ok(Type::Infer(infer.span)) } else { Err(input.error(text::TYPE)) };
        }
        if input.peek(token::Bracket) {
            let content;
            let brackets = bracketed!(content in input);
            if !crate::block::named(&content) {
                return Err(syn::Error::new(brackets.span.open(), text::TYPE));
            }
            let block = crate::block::reference(&content)?;
            content.parse::<Token![;]>().map_err(|_| content.error(text::CHAIN_TYPE))?;
            // The compiler reads the struct before the attribute does, and takes nothing else in this place.
            if let Some((_, value)) = block.binds.iter().find(|(_, value)| !value.is_name()) {
                return Err(syn::Error::new(value.at.start(), text::CHAIN_BIND));
            }
            let count = content.parse()?;
            let rest = if content.is_empty() { input } else { &content };
            return if rest.is_empty() { Ok(Type::Chain { block, count }) } else { Err(rest.error(text::CHAIN_TYPE)) };
        }
        let word: Ident = input.parse().map_err(|error: syn::Error| syn::Error::new(error.span(), text::TYPE))?;
        if word != "Tensor" {
            return Err(syn::Error::new(word.span(), if chain { text::CHAIN_TYPE } else { text::OTHER_TYPE }));
        }
        if !input.peek(Token![<]) {
            return Err(syn::Error::new(word.span(), text::TYPE));
        }
        input.parse::<Token![<]>()?;
        let dtype: Ident = input.parse().map_err(|error: syn::Error| {
            syn::Error::new(error.span(), "the first parameter is the element type: `Tensor<f32, …>`")
        })?;
        let mut dims: Vec<DimExpr> = Vec::new();
        while input.peek(Token![,]) {
            input.parse::<Token![,]>()?;
            if input.peek(Token![>]) {
                break;
            }
            dims.push(extent(input)?);
        }
        input.parse::<Token![>]>().map_err(|_| input.error(text::EXTENT))?;
        if !input.is_empty() {
            return Err(input.error(text::TYPE));
        }
        Ok(Type::Tensor { at, dtype, dims })
    };
    match parse_within(tokens, at.end(), parse) {
        Ok(ty) => ty,
        Err(error) => {
            report.syntax(&error);
            Type::Broken
        }
    }
}
