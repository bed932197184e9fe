//! The values of settings and the ranges of indices, from tokens.

use proc_macro2::{Delimiter, Ident, TokenTree};
use syn::parse::{Parse, ParseStream};
use syn::punctuated::Punctuated;
use syn::{Lit, LitBool, LitFloat, LitInt, LitStr, Token, bracketed, token};

use super::{Range, Value, ValueKind};
use crate::dims::DimExpr;
use crate::error::{At, text};

impl Parse for Value {
    fn parse(input: ParseStream<'_>) -> syn::Result<Value> {
        if input.peek(token::Bracket) {
            let content;
            let brackets = bracketed!(content in input);
            let list = Punctuated::<Value, Token![,]>::parse_terminated(&content)?;
            return Ok(Value {
                at: At::token(brackets.span.join()),
                kind: ValueKind::List(list.into_iter().collect()),
            });
        }
        if input.peek(Token![_]) {
            let open: Token![_] = input.parse()?;
            return Ok(Value { at: At::token(open.span), kind: ValueKind::Infer });
        }
        if input.peek(LitBool) {
            let lit: LitBool = input.parse()?;
            return Ok(Value { at: At::token(lit.span), kind: ValueKind::Bool(lit.value) });
        }
        if input.peek(LitStr) {
            let lit: LitStr = input.parse()?;
            return Err(syn::Error::new(lit.span(), unquoted(&lit.value())));
        }
        if let Some(parens) = tuple(input) {
            return Err(syn::Error::new(parens, text::LIST));
        }
        let minus: Option<Token![-]> = input.parse()?;
        let first = minus.map(|minus| At::token(minus.span));
        let from = |at: At| first.unwrap_or(at).to(at);
        if input.peek(LitFloat) || (input.peek(LitInt) && input.fork().parse::<LitInt>()?.suffix() == "f32") {
            let lit: Lit = input.parse()?;
            let digits = match &lit {
                Lit::Float(float) => float.base10_digits().to_string(),
                Lit::Int(int) => int.base10_digits().to_string(),
                _ => String::new(),
            };
            let value: f64 = digits.parse().map_err(|_| syn::Error::new(lit.span(), "expected a number"))?;
            let value = if minus.is_some() { -value } else { value };
            return Ok(Value { at: from(At::token(lit.span())), kind: ValueKind::Float(value) });
        }
        if !(input.peek(LitInt) || input.peek(syn::Ident) || input.peek(token::Brace) || input.peek(token::Paren)) {
            return Err(input.error("expected a number, a name, `true`, `false`, `_` or a list in brackets"));
        }
        let fork = input.fork();
        let word = fork.parse::<Ident>().ok().filter(|_| fork.is_empty() || fork.peek(Token![,]));
        let dim: DimExpr = input.parse()?;
        Ok(Value { at: from(dim.at), kind: ValueKind::Dim { negative: minus.is_some(), dim, word } })
    }
}

/// What to say of a word in quotes.
fn unquoted(word: &str) -> String {
    match syn::parse_str::<Ident>(word) {
        Ok(word) => format!("a word is written without quotes: `{}`", word.to_string().to_lowercase()),
        Err(_) => String::from("expected a number, a name, `true`, `false`, `_` or a list in brackets, not a string"),
    }
}

/// The place of the parentheses ahead, if several values stand in them.
fn tuple(input: ParseStream<'_>) -> Option<proc_macro2::Span> {
    let Ok(TokenTree::Group(group)) = input.fork().parse() else { return None };
    let comma = |tree: TokenTree| matches!(tree, TokenTree::Punct(sign) if sign.as_char() == ',');
    (group.delimiter() == Delimiter::Parenthesis && group.stream().into_iter().any(comma)).then(|| group.span())
}

impl Parse for Range {
    fn parse(input: ParseStream<'_>) -> syn::Result<Range> {
        let bound = |input: ParseStream<'_>| -> syn::Result<Option<DimExpr>> {
            if input.is_empty() || input.peek(Token![..]) || input.peek(Token![,]) {
                Ok(None)
            } else {
                let text = if input.peek(Token![-]) { text::NEGATIVE_INDEX } else { text::RANGE };
                input.parse().map(Some).map_err(|error: syn::Error| syn::Error::new(error.span(), text))
            }
        };
        let start = bound(input)?;
        if !input.peek(Token![..]) {
            return start.map(Range::One).ok_or_else(|| input.error(text::RANGE));
        }
        if input.peek(Token![..=]) {
            let dots: Token![..=] = input.parse()?;
            return Err(syn::Error::new_spanned(dots, "write the end as one past the last index: `a..b`"));
        }
        let dots: Token![..] = input.parse()?;
        let end = bound(input)?;
        let dots = At::tokens(dots);
        let at = start.as_ref().map_or(dots, |start| start.at.to(dots));
        let at = end.as_ref().map_or(at, |end| at.to(end.at));
        Ok(Range::Span { at, start, end })
    }
}
