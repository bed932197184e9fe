//! From tokens to a [`Model`]. Every field is read by itself, so that a mistake in one hides none in another.

use proc_macro2::{Delimiter, Spacing, TokenStream, TokenTree};
use syn::parse::{ParseStream, Parser};
use syn::{Attribute, Ident, LitStr, Path, Token, Visibility};

use crate::ast::{Field, Model, Role, Settings, Type};
use crate::dims::{DimExpr, extent};
use crate::error::{At, Report, suggestion, text};
use crate::expr::Expr;
use crate::names::nearest;

const ROLES: &[&str] = &["input", "weight", "constant", "node", "output"];

/// Reads the struct; `None` when it is none.
pub(crate) fn model(settings: Settings, item: TokenStream, report: &mut Report) -> Option<Model> {
    let mut body = None;
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
            _ => return Err(syn::Error::new(name.span(), text::NOT_A_STRUCT)),
        };
        body = Some(group);
        input.parse::<TokenStream>()?;
        Ok((attributes, vis, name))
    };
    let (attributes, vis, name) = match head.parse2(item) {
        Ok(head) => head,
        Err(error) => {
            report.syntax(&error);
            return None;
        }
    };
    let fields = split(body?.stream()).into_iter().filter_map(|tokens| field(tokens, report)).collect();
    Some(Model { settings, attributes, vis, name, fields })
}

/// Splits a struct's body at the commas between its fields.
fn split(body: TokenStream) -> Vec<TokenStream> {
    let mut fields = Vec::new();
    let mut current = Vec::new();
    let mut depth = 0usize;
    for tree in body {
        if let TokenTree::Punct(punct) = &tree {
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
        let attributes = input.call(Attribute::parse_outer)?;
        let vis: Visibility = input.parse()?;
        let name: Ident = input.parse()?;
        input.parse::<Token![:]>()?;
        ty = Some(input.parse::<TokenStream>()?);
        Ok((attributes, vis, name))
    };
    let (attributes, vis, name) = match head.parse2(tokens) {
        Ok(head) => head,
        Err(error) => {
            report.syntax(&error);
            return None;
        }
    };
    let mut field = Field {
        docs: Vec::new(),
        vis,
        role: Role::Broken,
        keep: None,
        allow_unused: false,
        ty: tensor_type(ty.unwrap_or_default(), &name, report),
        name,
    };
    let mut role: Option<Ident> = None;
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
                if let Err(error) = attribute.meta.require_path_only() {
                    report.syntax(&error);
                }
                if field.keep.replace(word.span()).is_some() {
                    report.add(&word, "`#[keep]` is given twice; once is enough");
                }
            }
            plain if ROLES.contains(&plain) => {
                if let Some(first) = &role {
                    let what = if *first == word { "twice" } else { "beside another" };
                    report.add(
                        &word,
                        format!(
                            "`{}` has the role `{word}` {what}: it already is `{first}`; a tensor has one role",
                            field.name
                        ),
                    );
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
                report.add(
                    &word,
                    format!(
                        "there is no attribute `{plain}` for a tensor; {}",
                        suggestion(nearest(plain, known.iter().copied()), &known)
                    ),
                );
                role.get_or_insert(word);
            }
        }
    }
    if role.is_none() {
        report.add(&field.name, text::NO_ROLE);
    }
    if let Some(keep) = field.keep {
        let advice = match &field.role {
            Role::Input { .. } => Some("write `#[input(keep)]` to keep an input"),
            Role::Weight { .. } | Role::Constant(_) | Role::ConstantFill(_) => {
                Some("it always lives; remove `#[keep]`")
            }
            Role::Output(_) => Some("an output can be read after forward anyway; remove `#[keep]`"),
            Role::Node(_) | Role::Broken => None,
        };
        if let Some(advice) = advice {
            report.add(keep, format!("`#[keep]` is for `#[node(…)]`: {advice}"));
        }
    }
    Some(field)
}

fn read_role(name: &str, attribute: &Attribute) -> syn::Result<Role> {
    let at = attribute.path();
    let list = || {
        attribute.meta.require_list().map_err(|_| {
            let inside = if name == "constant" { "a constant expression" } else { "an expression" };
            syn::Error::new_spanned(at, format!("`#[{name}]` needs {inside}: `#[{name}(…)]`"))
        })
    };
    match name {
        "input" => match &attribute.meta {
            syn::Meta::Path(_) => Ok(Role::Input { keep: false }),
            syn::Meta::List(list) => {
                let keep: Ident = list.parse_args().map_err(|_| only_keep(list))?;
                if keep != "keep" {
                    return Err(syn::Error::new(
                        keep.span(),
                        format!("`#[input]` takes `keep` and nothing else, not `{keep}`"),
                    ));
                }
                Ok(Role::Input { keep: true })
            }
            syn::Meta::NameValue(_) => Err(syn::Error::new_spanned(at, "write `#[input]` or `#[input(keep)]`")),
        },
        "weight" => match &attribute.meta {
            syn::Meta::Path(_) => Ok(Role::Weight { name: None }),
            syn::Meta::List(list) => list.parse_args_with(weight_name),
            syn::Meta::NameValue(_) => {
                Err(syn::Error::new_spanned(at, "write `#[weight]` or `#[weight(name = \"name.in.the.file\")]`"))
            }
        },
        "constant" => list()?.parse_args_with(constant),
        "node" => Ok(Role::Node(list()?.parse_args_with(whole_expr)?)),
        _ => Ok(Role::Output(list()?.parse_args_with(whole_expr)?)),
    }
}

fn only_keep(list: &syn::MetaList) -> syn::Error {
    if list.tokens.is_empty() {
        syn::Error::new_spanned(&list.path, "write `#[input]` or `#[input(keep)]`")
    } else {
        syn::Error::new_spanned(&list.tokens, "`#[input]` takes `keep` and nothing else")
    }
}

fn weight_name(input: ParseStream<'_>) -> syn::Result<Role> {
    const EXPECTED: &str = "expected `name = \"name.in.the.file\"`";
    let key: Ident = input.parse().map_err(|_| input.error(EXPECTED))?;
    if key != "name" {
        let near = nearest(&key.to_string(), ["name"]).map(|_| "; did you mean `name`?").unwrap_or_default();
        return Err(syn::Error::new(
            key.span(),
            format!("`#[weight]` has no setting `{key}`{near}; it takes `name = \"…\"`"),
        ));
    }
    input.parse::<Token![=]>().map_err(|_| input.error(EXPECTED))?;
    let name: LitStr = input.parse().map_err(|_| input.error(EXPECTED))?;
    if !input.is_empty() {
        return Err(input.error("`#[weight]` takes `name = \"…\"` and nothing else"));
    }
    Ok(Role::Weight { name: Some(name) })
}

fn constant(input: ParseStream<'_>) -> syn::Result<Role> {
    if input.is_empty() {
        return Err(input.error("`#[constant(…)]` needs a constant expression, or `fill = function`"));
    }
    if input.peek(syn::Ident) && input.peek2(Token![=]) && !input.peek2(Token![==]) {
        let key: Ident = input.parse()?;
        if key != "fill" {
            return Err(syn::Error::new(
                key.span(),
                format!("`#[constant]` has no setting `{key}`; it takes an expression, or `fill = function`"),
            ));
        }
        input.parse::<Token![=]>()?;
        let path: Path = input.parse()?;
        if !input.is_empty() {
            return Err(input.error("expected the path of a function and nothing else"));
        }
        return Ok(Role::ConstantFill(path));
    }
    Ok(Role::Constant(input.parse()?))
}

fn whole_expr(input: ParseStream<'_>) -> syn::Result<Expr> {
    let expr: Expr = input.parse()?;
    if !input.is_empty() {
        return Err(input.error("expected an operator such as `+`, or the end of the expression"));
    }
    Ok(expr)
}

/// `Tensor<dtype, extents…>` or `_`.
fn tensor_type(tokens: TokenStream, name: &Ident, report: &mut Report) -> Type {
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
        let word: Ident = input.parse().map_err(|error: syn::Error| syn::Error::new(error.span(), text::TYPE))?;
        if word != "Tensor" {
            return Err(syn::Error::new(word.span(), text::TYPE));
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
    match parse.parse2(tokens) {
        Ok(ty) => ty,
        Err(error) => {
            report.syntax(&error);
            Type::Broken
        }
    }
}
