//! The roles of fields, from their attributes.

use syn::parse::ParseStream;
use syn::{Attribute, Ident, LitStr, Path, Token};

use crate::ast::Role;
use crate::error::text;
use crate::expr::{Expr, Setting, ValueKind};

/// A role from its attribute.
pub(super) fn read_role(name: &str, attribute: &Attribute) -> syn::Result<Role> {
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
        "state" => match &attribute.meta {
            syn::Meta::Path(_) => Ok(Role::State),
            _ => Err(syn::Error::new_spanned(at, text::STATE)),
        },
        "constant" => list()?.parse_args_with(constant),
        "chain" => {
            let list = attribute.meta.require_list().map_err(|_| syn::Error::new_spanned(at, text::CHAIN))?;
            list.parse_args_with(|input: ParseStream<'_>| chain(input, at))
        }
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
        return Err(syn::Error::new(
            key.span(),
            format!("`#[weight]` has no setting `{key}`; it takes `name = \"name.in.the.file\"`"),
        ));
    }
    input.parse::<Token![=]>().map_err(|_| input.error(EXPECTED))?;
    if !input.peek(LitStr) {
        return Err(input.error(EXPECTED));
    }
    let name: LitStr = input.parse()?;
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
        let path: Path = input.parse().map_err(|_| input.error(text::FILL))?;
        if !input.is_empty() {
            return Err(input.error(text::FILL));
        }
        return Ok(Role::ConstantFill(path));
    }
    Ok(Role::Constant(input.parse()?))
}

/// What goes through a chain, and what else its copies are given.
fn chain(input: ParseStream<'_>, at: &Path) -> syn::Result<Role> {
    let (operands, _, settings) = crate::expr::arguments(input, &[])?;
    let bind = |setting: Setting| match setting.value.kind {
        ValueKind::Dim { negative: false, dim, .. } => Ok((setting.name, dim)),
        _ => Err(syn::Error::new(setting.value.at.start(), text::BIND)),
    };
    let binds = settings.into_iter().map(bind).collect::<syn::Result<_>>()?;
    if operands.is_empty() {
        return Err(syn::Error::new_spanned(at, text::CHAIN));
    }
    Ok(Role::Chain { operands, binds })
}

fn whole_expr(input: ParseStream<'_>) -> syn::Result<Expr> {
    let expr: Expr = input.parse()?;
    if !input.is_empty() {
        return Err(crate::expr::stray(input, "the end of the expression"));
    }
    Ok(expr)
}
