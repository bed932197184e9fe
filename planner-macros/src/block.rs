//! How other models are named: `path::Block<D = 4>` before operands and in the type of a chain. It looks at tokens alone
//! and does not know which blocks there are.

use proc_macro2::{Ident, Span, TokenStream, TokenTree};
use syn::ext::IdentExt;
use syn::parse::ParseStream;
use syn::{Path, PathSegment, Token, parenthesized, token};

use crate::ast::BlockRef;
use crate::dims::DimExpr;
use crate::error::{At, parse_within, text};
use crate::expr::{Expr, Given, Setting, stray};

/// True when a block is called or named here. Operators are written small, blocks large, as Rust's types are.
pub(crate) fn stands(input: ParseStream<'_>) -> bool {
    let fork = input.fork();
    let Ok(path) = path(&fork) else { return false };
    is_large(&path) && (path.segments.len() > 1 || path.leading_colon.is_some() || ahead(&fork))
}

/// True when a name stands here that could be a block's.
pub(crate) fn named(input: ParseStream<'_>) -> bool {
    path(&input.fork()).is_ok_and(|path| is_large(&path))
}

fn is_large(path: &Path) -> bool {
    path.segments.last().is_some_and(|last| last.ident.unraw().to_string().starts_with(char::is_uppercase))
}

/// What can follow a block's name where it is called.
fn ahead(input: ParseStream<'_>) -> bool {
    input.peek(token::Paren) || input.peek(Token![<]) || input.peek(Token![::])
}

/// The block, its operands, those by name and settings, and where they end.
pub(crate) fn call(input: ParseStream<'_>) -> syn::Result<(BlockRef, Vec<Expr>, Vec<Given>, Span)> {
    let block = reference(input)?;
    if !input.peek(token::Paren) {
        let constant = block.binds.is_empty() && !block.name().contains(char::is_lowercase);
        let text = if constant { text::RUST_CONSTANT } else { text::BLOCK_CALL };
        return Err(syn::Error::new(block.at.end(), text));
    }
    let content;
    let parens = parenthesized!(content in input);
    let (operands, given) = arguments(&content)?;
    Ok((block, operands, given, parens.span.join()))
}

/// Operands, and what is given by name. Whether that is an operand or a setting is known only once the name is.
fn arguments(input: ParseStream<'_>) -> syn::Result<(Vec<Expr>, Vec<Given>)> {
    let (mut operands, mut given) = (Vec::new(), Vec::new());
    while !input.is_empty() {
        if input.peek(syn::Ident) && input.peek2(Token![=]) && !input.peek2(Token![==]) {
            given.push(by_name(input)?);
        } else {
            let operand: Expr = input.parse()?;
            if !given.is_empty() {
                return Err(syn::Error::new(operand.at.start(), text::OPERAND_AFTER_SETTING));
            }
            operands.push(operand);
        }
        if !input.is_empty() {
            input.parse::<Token![,]>().map_err(|_| stray(input, "`,` or `)`"))?;
        }
    }
    Ok((operands, given))
}

fn by_name(input: ParseStream<'_>) -> syn::Result<Given> {
    let name: Ident = input.parse()?;
    let sign: Token![=] = input.parse()?;
    let mut tokens = TokenStream::new();
    while !input.is_empty() && !input.peek(Token![,]) {
        tokens.extend([input.parse::<TokenTree>()?]);
    }
    let end = if tokens.is_empty() { sign.span } else { At::tokens(tokens.clone()).end() };
    let operand = parse_within(tokens.clone(), end, |input| {
        let operand: Expr = input.parse()?;
        if input.is_empty() { Ok(operand) } else { Err(stray(input, "`,` or `)`")) }
    });
    let setting = parse_within(tokens, end, |input| {
        let setting = Setting { name: name.clone(), value: input.parse()? };
        if input.is_empty() { Ok(setting) } else { Err(input.error("expected `,` or `)`")) }
    });
    Ok(Given { name, operand, setting })
}

/// `path::Block<D = 4>`, with or without `::` before the dims.
pub(crate) fn reference(input: ParseStream<'_>) -> syn::Result<BlockRef> {
    let path = path(input)?;
    let at = At::tokens(&path);
    let mut binds: Vec<(Ident, DimExpr)> = Vec::new();
    if input.peek(Token![::]) {
        input.parse::<Token![::]>()?;
    }
    if !input.peek(Token![<]) {
        return Ok(BlockRef { at, path, binds });
    }
    input.parse::<Token![<]>()?;
    while !input.peek(Token![>]) {
        if !(input.peek(syn::Ident) && input.peek2(Token![=])) {
            return Err(input.error(text::BIND));
        }
        let name: Ident = input.parse()?;
        input.parse::<Token![=]>()?;
        binds.push((name, input.parse()?));
        if !input.peek(Token![>]) {
            input.parse::<Token![,]>().map_err(|_| input.error(text::BIND))?;
        }
    }
    let close: Token![>] = input.parse()?;
    Ok(BlockRef { at: at.to(At::token(close.span)), path, binds })
}

/// A path of names alone.
fn path(input: ParseStream<'_>) -> syn::Result<Path> {
    let leading_colon = input.parse()?;
    let mut path = Path { leading_colon, segments: syn::punctuated::Punctuated::new() };
    loop {
        path.segments.push_value(PathSegment::from(input.call(Ident::parse_any)?));
        if !input.peek(Token![::]) || input.peek3(Token![<]) {
            return Ok(path);
        }
        path.segments.push_punct(input.parse()?);
    }
}
