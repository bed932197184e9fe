//! What stands in the parentheses of `#[operator(…)]`, before anything is known of what its names mean.

use proc_macro2::{Delimiter, Group, Ident, Span, TokenStream, TokenTree};
use syn::ext::IdentExt;
use syn::parse::ParseStream;
use syn::{Path, Token, bracketed, token};

use super::rule::text;
use crate::ast::plain;
use crate::dims::DimExpr;
use crate::error::{At, Report, parse_within, suggestion};
use crate::names::nearest;

/// The clauses, each read by itself.
#[derive(Default)]
pub(super) struct Clauses {
    pub(super) operands: Vec<Operand>,
    pub(super) result: Option<Pattern>,
    pub(super) in_place: Vec<Ident>,
    pub(super) strided: Vec<Ident>,
    pub(super) scratch: Option<DimExpr>,
    pub(super) krate: Option<Path>,
    /// Some could not be read.
    pub(super) incomplete: bool,
    /// There is no `fn(…)`.
    pub(super) missing: bool,
}

/// `name: type`, or `name?: type` for one that may be left out.
pub(super) struct Operand {
    pub(super) name: Ident,
    pub(super) optional: bool,
    pub(super) pattern: Pattern,
}

/// `f32[.., C, N]`, `f32 | i8 [N]`, `x[N]`, or no extents for a scalar.
pub(super) struct Pattern {
    pub(super) at: At,
    pub(super) elements: Vec<Ident>,
    pub(super) leading: Option<Span>,
    pub(super) dims: Vec<DimExpr>,
}

const KEYS: [&str; 4] = ["in_place", "strided", "scratch", "crate"];

/// Reads the clauses; what is wrong goes to the report and the rest is kept.
pub(super) fn clauses(tokens: TokenStream, report: &mut Report) -> Clauses {
    let mut clauses = Clauses::default();
    let mut seen: Vec<String> = Vec::new();
    for piece in pieces(tokens) {
        let at = At::tokens(piece.clone());
        let before = report.len();
        let read = parse_within(piece, at.end(), |input| {
            if input.peek(Token![fn]) {
                input.parse::<Token![fn]>()?;
                if !seen.iter().any(|key| key == "fn") {
                    seen.push("fn".into());
                    return signature(input, &mut clauses, report);
                }
                return Err(syn::Error::new(
                    at.start(),
                    "an operator takes and gives one thing; write one `fn(…) -> …`",
                ));
            }
            let key = input.call(Ident::parse_any).map_err(|_| input.error(text::CLAUSES))?;
            if input.peek(token::Paren) {
                return Err(syn::Error::new(key.span(), text::SIGNATURE));
            }
            if seen.contains(&key.to_string()) {
                report.add(&key, format!("`{key}` is given twice; write it once"));
            }
            seen.push(key.to_string());
            clause(&key, input, &mut clauses)?;
            if input.is_empty() { Ok(()) } else { Err(input.error("expected `,` between clauses")) }
        });
        if let Err(error) = read {
            report.syntax(&error);
        }
        clauses.incomplete |= report.len() > before;
    }
    clauses.missing = !clauses.incomplete && !seen.iter().any(|key| key == "fn");
    clauses
}

/// Splits at the commas, but for those of a type such as `Tensor<f32, N>`, which is a mistake of its own.
fn pieces(tokens: TokenStream) -> Vec<TokenStream> {
    let mut pieces = vec![TokenStream::new()];
    let (mut depth, mut arrow) = (0usize, false);
    for tree in tokens {
        let sign = if let TokenTree::Punct(punct) = &tree { punct.as_char() } else { ' ' };
        match sign {
            '<' => depth += 1,
            '>' if !arrow => depth = depth.saturating_sub(1),
            _ => {}
        }
        arrow = sign == '-';
        if sign == ',' && depth == 0 {
            pieces.push(TokenStream::new());
        } else if let Some(piece) = pieces.last_mut() {
            piece.extend([tree]);
        }
    }
    pieces.retain(|piece| !piece.is_empty());
    pieces
}

fn clause(key: &Ident, input: ParseStream<'_>, clauses: &mut Clauses) -> syn::Result<()> {
    let equals = |form: &str| {
        let wrong = || syn::Error::new(key.span(), format!("write `{form}`"));
        input.parse::<Token![=]>().map(|_| ()).map_err(|_| wrong())
    };
    match key.to_string().as_str() {
        "in_place" => {
            equals("in_place = x")?;
            clauses.in_place = names(input, "in_place = x")?;
        }
        "strided" => {
            equals("strided = [x, output]")?;
            clauses.strided = names(input, "strided = [x, output]")?;
        }
        "scratch" => {
            equals("scratch = 4 * N")?;
            let number = "`scratch` is a number of bytes, worked out of extents, settings and numbers with `+ - * /`: \
                          `scratch = 4 * N`";
            let read = input.parse().map_err(|error: syn::Error| syn::Error::new(error.span(), number))?;
            if !input.is_empty() {
                return Err(input.error(number));
            }
            clauses.scratch = Some(read);
        }
        "crate" => {
            equals("crate = ::model_graph")?;
            clauses.krate = Some(Path::parse_mod_style(input).map_err(|_| {
                input.error("`crate` is the path of the crate `model-graph`, not in quotes: `crate = ::model_graph`")
            })?);
        }
        _ => {
            let name = plain(key);
            let near = nearest(&name, KEYS);
            let advice = near.map(|_| format!("{} ", suggestion(near, &KEYS))).unwrap_or_default();
            return Err(syn::Error::new(key.span(), format!("there is no clause `{name}`; {advice}{}", text::CLAUSES)));
        }
    }
    Ok(())
}

/// One operand's name or a list of them.
fn names(input: ParseStream<'_>, form: &str) -> syn::Result<Vec<Ident>> {
    let wrong = |input: ParseStream<'_>| input.error(format!("operands are named one by one or in a list: `{form}`"));
    if !input.peek(token::Bracket) {
        return Ok(vec![input.parse().map_err(|_| wrong(input))?]);
    }
    let content;
    bracketed!(content in input);
    let mut names = Vec::new();
    while !content.is_empty() {
        names.push(content.parse().map_err(|_| wrong(&content))?);
        if !content.is_empty() {
            content.parse::<Token![,]>().map_err(|_| wrong(&content))?;
        }
    }
    Ok(names)
}

/// `(x: f32[N], …) -> f32[N]`.
fn signature(input: ParseStream<'_>, clauses: &mut Clauses, report: &mut Report) -> syn::Result<()> {
    let group: Group = match input.parse::<TokenTree>() {
        Ok(TokenTree::Group(group)) if group.delimiter() == Delimiter::Parenthesis => group,
        Ok(tree) => return Err(syn::Error::new(tree.span(), text::SIGNATURE)),
        Err(error) => return Err(syn::Error::new(error.span(), text::SIGNATURE)),
    };
    if group.stream().is_empty() {
        report.add(group.span(), "an operator takes at least one tensor: `fn(x: f32[N]) -> f32[N]`");
    }
    // Who writes one as a field's type writes all of them so, and is told once.
    let mut told = false;
    let mut tell = |at: Span, name: &str, tensor: &str, report: &mut Report| {
        if !std::mem::replace(&mut told, true) {
            report.add(at, format!("{}: `{name}{tensor}`", text::FIELD));
        }
    };
    for piece in pieces(group.stream()) {
        let trees: Vec<TokenTree> = piece.clone().into_iter().collect();
        let colon = trees.iter().position(|tree| matches!(tree, TokenTree::Punct(colon) if colon.as_char() == ':'));
        if let Some(colon) = colon
            && let Some(tensor) = of_a_field(&trees[colon + 1..])
        {
            let name: TokenStream = trees[..colon].iter().cloned().collect();
            tell(trees[colon + 1].span(), &format!("{}: ", name.to_string().replace(' ', "")), &tensor, report);
            continue;
        }
        let end = At::tokens(piece.clone()).end();
        match parse_within(piece, end, operand) {
            Ok(operand) => clauses.operands.push(operand),
            Err(error) => report.syntax(&error),
        }
    }
    if !input.peek(Token![->]) {
        let at = if input.is_empty() { group.span() } else { input.span() };
        return Err(syn::Error::new(at, text::RESULT));
    }
    input.parse::<Token![->]>()?;
    let rest: Vec<TokenTree> = input.fork().parse::<TokenStream>()?.into_iter().collect();
    if let Some(tensor) = of_a_field(&rest) {
        tell(rest[0].span(), "-> ", &tensor, report);
        return input.parse::<TokenStream>().map(|_| ());
    }
    if input.peek(token::Paren) {
        return Err(input.error(text::ONE_RESULT));
    }
    clauses.result = Some(pattern(input)?);
    match input.is_empty() {
        true => Ok(()),
        false if input.peek(token::Paren) => Err(input.error(text::PATTERN)),
        false => Err(input.error("expected `,` between clauses")),
    }
}

/// `Tensor<f32, C>`, the type of a model's field, as it is written here: `f32[C]`.
fn of_a_field(tokens: &[TokenTree]) -> Option<String> {
    let [TokenTree::Ident(word), TokenTree::Punct(open), inner @ .., TokenTree::Punct(close)] = tokens else {
        return None;
    };
    if word != "Tensor" || open.as_char() != '<' || close.as_char() != '>' {
        return None;
    }
    let spelled = |piece: TokenStream| {
        let trees: Vec<TokenTree> = piece.clone().into_iter().collect();
        match trees.as_slice() {
            [TokenTree::Group(braces)] if braces.delimiter() == Delimiter::Brace => braces.stream().to_string(),
            _ => piece.to_string(),
        }
    };
    let pieces: Vec<String> = pieces(inner.iter().cloned().collect()).into_iter().map(spelled).collect();
    match pieces.split_first()? {
        (element, []) => Some(element.clone()),
        (element, extents) => Some(format!("{element}[{}]", extents.join(", "))),
    }
}

fn operand(input: ParseStream<'_>) -> syn::Result<Operand> {
    let name: Ident = input.parse().map_err(|_| input.error(text::OPERAND))?;
    let optional: Option<Token![?]> = input.parse()?;
    input.parse::<Token![:]>().map_err(|_| syn::Error::new(name.span(), text::OPERAND))?;
    let pattern = pattern(input)?;
    match input.is_empty() {
        true => Ok(Operand { name, optional: optional.is_some(), pattern }),
        false if input.peek(token::Paren) => Err(input.error(text::PATTERN)),
        false => Err(input.error("expected `,` between operands")),
    }
}

fn pattern(input: ParseStream<'_>) -> syn::Result<Pattern> {
    let wrong = |input: ParseStream<'_>| input.error(text::PATTERN);
    let start = At::token(input.span());
    let mut elements: Vec<Ident> = vec![input.parse().map_err(|_| wrong(input))?];
    while input.peek(Token![|]) {
        input.parse::<Token![|]>()?;
        elements.push(input.parse().map_err(|_| wrong(input))?);
    }
    if elements[0] == "Tensor" {
        return Err(syn::Error::new(elements[0].span(), text::PATTERN));
    }
    let mut pattern = Pattern { at: start, elements, leading: None, dims: Vec::new() };
    pattern.at = start.to(At::from(&pattern.elements[pattern.elements.len() - 1]));
    if !input.peek(token::Bracket) {
        return Ok(pattern);
    }
    let content;
    let brackets = bracketed!(content in input);
    pattern.at = start.to(At::token(brackets.span.close()));
    while !content.is_empty() {
        if content.peek(Token![..]) {
            let dots: Token![..] = content.parse()?;
            if pattern.leading.is_some() || !pattern.dims.is_empty() {
                let text = "`..` stands for leading dims, so it comes first and once: `f32[.., N]`";
                return Err(syn::Error::new(dots.spans[0], text));
            }
            pattern.leading = Some(dots.spans[0]);
        } else {
            pattern.dims.push(content.parse()?);
        }
        if !content.is_empty() {
            content.parse::<Token![,]>().map_err(|_| content.error("expected `,` between extents"))?;
        }
    }
    Ok(pattern)
}
