//! Expressions from tokens, and what to say of signs and words that stand in none. It knows which operators there are only
//! to tell operands by name from settings.

use proc_macro2::Ident;
use syn::ext::IdentExt;
use syn::parse::{Parse, ParseStream};
use syn::punctuated::Punctuated;
use syn::{Lit, Token, bracketed, parenthesized, token};

use super::{Expr, ExprKind, Range, Setting};
use crate::error::{At, text};

impl Parse for Expr {
    fn parse(input: ParseStream<'_>) -> syn::Result<Expr> {
        let left = either(input)?;
        let Some((op, sign)) = comparison(input)? else { return Ok(left) };
        if op == "less" && input.peek(syn::Ident) && input.peek2(Token![=]) && !input.peek2(Token![==]) {
            let error = "only a block has dims to bind, and its name starts with a capital letter: `Block<D = 4>(x)`";
            return Err(syn::Error::new(sign.start(), error));
        }
        let right = either(input)?;
        if let Some((_, next)) = comparison(&input.fork())? {
            return Err(syn::Error::new(next.start(), text::CHAINED));
        }
        call(left.at.to(right.at), sign, op, vec![left, right]).bounded(sign.start())
    }
}

/// The comparison that stands here and its sign, if there is one.
fn comparison(input: ParseStream<'_>) -> syn::Result<Option<(&'static str, At)>> {
    macro_rules! signs {
        ($($sign:tt $op:literal),*) => { $(
            if input.peek(Token![$sign]) {
                return input.parse::<Token![$sign]>().map(|sign| Some(($op, At::tokens(sign))));
            }
        )* };
    }
    signs!(== "equal", != "not_equal", <= "less_equal", >= "greater_equal", < "less", > "greater");
    Ok(None)
}

fn either(input: ParseStream<'_>) -> syn::Result<Expr> {
    let mut left = one_of(input)?;
    while input.peek(Token![|]) {
        left = binary(input, left, one_of)?;
    }
    Ok(left)
}

fn one_of(input: ParseStream<'_>) -> syn::Result<Expr> {
    let mut left = both(input)?;
    while input.peek(Token![^]) {
        left = binary(input, left, both)?;
    }
    Ok(left)
}

fn both(input: ParseStream<'_>) -> syn::Result<Expr> {
    let mut left = sum(input)?;
    while input.peek(Token![&]) {
        left = binary(input, left, sum)?;
    }
    Ok(left)
}

fn sum(input: ParseStream<'_>) -> syn::Result<Expr> {
    let mut left = product(input)?;
    while input.peek(Token![+]) || input.peek(Token![-]) {
        left = binary(input, left, product)?;
    }
    Ok(left)
}

fn product(input: ParseStream<'_>) -> syn::Result<Expr> {
    let mut left = cast(input)?;
    while input.peek(Token![*]) || input.peek(Token![/]) || input.peek(Token![%]) {
        left = binary(input, left, cast)?;
    }
    Ok(left)
}

fn binary(input: ParseStream<'_>, left: Expr, side: fn(ParseStream<'_>) -> syn::Result<Expr>) -> syn::Result<Expr> {
    if input.peek(Token![&&]) || input.peek(Token![||]) {
        return Err(input.error(text::LAZY));
    }
    let sign: proc_macro2::Punct = input.parse()?;
    if sign.as_char() == '*' && input.peek(Token![*]) {
        return Err(input.error(text::POWER));
    }
    let right = side(input)?;
    let op = match sign.as_char() {
        '+' => "add",
        '-' => "sub",
        '*' => "mul",
        '%' => "rem",
        '&' => "and",
        '|' => "or",
        '^' => "xor",
        _ => "div",
    };
    call(left.at.to(right.at), At::token(sign.span()), op, vec![left, right]).bounded(sign.span())
}

fn call(at: At, name: At, op: &str, operands: Vec<Expr>) -> Expr {
    Expr::new(at, ExprKind::Call { name, op: op.into(), operands, named: Vec::new(), settings: Vec::new() })
}

fn cast(input: ParseStream<'_>) -> syn::Result<Expr> {
    let mut of = unary(input)?;
    while input.peek(Token![as]) {
        let sign: Token![as] = input.parse()?;
        let dtype: Ident = input.parse().map_err(|_| input.error("expected an element type, such as `f32`"))?;
        of = Expr::new(of.at.to(At::from(&dtype)), ExprKind::Cast { of: Box::new(of), dtype }).bounded(sign.span)?;
    }
    Ok(of)
}

fn unary(input: ParseStream<'_>) -> syn::Result<Expr> {
    let mut signs: Vec<proc_macro2::Punct> = Vec::new();
    while input.peek(Token![-]) || input.peek(Token![!]) {
        signs.push(input.parse()?);
    }
    let mut of = atom(input)?;
    while input.peek(token::Bracket) {
        let content;
        let brackets = bracketed!(content in input);
        let at = of.at.to(At::token(brackets.span.join()));
        let ranges = Punctuated::<Range, Token![,]>::parse_terminated(&content)?;
        if ranges.is_empty() {
            return Err(syn::Error::new(brackets.span.join(), text::RANGE));
        }
        let kind = ExprKind::Index { of: Box::new(of), ranges: ranges.into_iter().collect() };
        of = Expr::new(at, kind).bounded(brackets.span.join())?;
    }
    for sign in signs.into_iter().rev() {
        let name = At::token(sign.span());
        let op = if sign.as_char() == '-' { "neg" } else { "not" };
        of = call(name.to(of.at), name, op, vec![of]).bounded(sign.span())?;
    }
    Ok(of)
}

fn atom(input: ParseStream<'_>) -> syn::Result<Expr> {
    if input.peek(token::Paren) {
        let content;
        let parens = parenthesized!(content in input);
        let mut inner: Expr = content.parse()?;
        if content.peek(Token![,]) {
            return Err(syn::Error::new(parens.span.join(), text::TUPLE));
        }
        if !content.is_empty() {
            return Err(stray(&content, "`)`"));
        }
        inner.at = At::token(parens.span.join());
        return Ok(inner);
    }
    if input.peek(Lit) {
        return number(input);
    }
    if input.peek(token::Bracket) {
        let content;
        let brackets = bracketed!(content in input);
        // Tensors are written small, dims large.
        let tensor = content.fork().parse::<Ident>().is_ok_and(|name| name.to_string().starts_with(char::is_lowercase));
        let text = if tensor { text::ONE_BY_ONE } else { text::SETTING_NOT_NAMED };
        return Err(syn::Error::new(brackets.span.join(), text));
    }
    if crate::block::stands(input) {
        let (block, operands, given, parens) = crate::block::call(input)?;
        let at = block.at.to(At::token(parens));
        return Ok(Expr::new(at, ExprKind::Block { block, operands, given }));
    }
    // A word of Rust's own, and an operator here.
    let keyword = input.peek(Token![where]) && input.peek2(token::Paren);
    let name = if keyword { Ident::parse_any(input) } else { input.parse() };
    let name: Ident = name.map_err(|_| {
        input.error(if input.peek(Token![&]) {
            "operands are tensors' names, without `&`"
        } else if input.peek(Token![self]) || input.peek(Token![Self]) {
            "tensors go by their names alone, without `self.`"
        } else if input.peek(Token![if]) {
            "there is no `if`: both are computed, and `where(condition, a, b)` picks element by element"
        } else {
            text::OPERAND
        })
    })?;
    if !input.peek(token::Paren) {
        return Ok(Expr::new(At::from(&name), ExprKind::Name(name)));
    }
    let content;
    let parens = parenthesized!(content in input);
    let op = crate::ast::plain(&name);
    let spec = model_graph_planner::op::find(&op).map(|entry| entry.spec).filter(|spec| !spec.variadic);
    let (operands, named, settings) = arguments(&content, spec.map_or(&[], |spec| spec.operands))?;
    let at = At::from(&name).to(At::token(parens.span.join()));
    Ok(Expr::new(at, ExprKind::Call { name: At::from(&name), op, operands, named, settings }))
}

/// What to say of a token that continues no expression.
pub(crate) fn stray(input: ParseStream<'_>, end: &str) -> syn::Error {
    if input.peek(Token![.]) && input.peek2(syn::Ident) && !input.peek3(token::Paren) {
        input.error(
            "a tensor has no fields, and of a block there is what it gives alone; an operator is called by its name, \
             `transpose(x)` instead of `x.T`",
        )
    } else if input.peek(Token![.]) {
        input.error("there are no methods: an operator is called by its name, `relu(x)` instead of `x.relu()`")
    } else if input.peek(Token![:]) && !input.peek(Token![::]) {
        input.error("a setting is written with `=`, such as `axis = 1`")
    } else if input.peek(Token![::]) {
        input.error("there are no paths: a tensor or an operator is one name")
    } else if input.peek(Token![@]) {
        input.error("there is no `@`; write `matmul(a, b)`")
    } else if input.peek(Token![<]) {
        input.error("only a block has dims to bind, and its name starts with a capital letter: `Block<D = 4>(x)`")
    } else if input.peek(Token![=]) && !input.peek(Token![==]) {
        input.error("nothing is assigned to: a state is set by `write(s, src = x)`, and equal is `==`")
    } else {
        input.error(format!("expected {end}, or one of `+ - * /`"))
    }
}

fn number(input: ParseStream<'_>) -> syn::Result<Expr> {
    let lit: Lit = input.parse()?;
    let wrong = || {
        syn::Error::new(
            lit.span(),
            "a number takes the element type of what it stands beside: write it as `0.5` or `2`",
        )
    };
    let value = match &lit {
        Lit::Int(int) if matches!(int.suffix(), "" | "f32") => int.base10_digits().parse::<f64>(),
        Lit::Float(float) if matches!(float.suffix(), "" | "f32") => float.base10_digits().parse::<f64>(),
        _ => return Err(wrong()),
    };
    let value = value.map_err(|_| wrong())?;
    Ok(Expr::new(At::token(lit.span()), ExprKind::Number(value)))
}

/// Operands, operands by name, settings.
pub(crate) type Arguments = (Vec<Expr>, Vec<(Ident, Expr)>, Vec<Setting>);

/// What stands in a call's parentheses. `names` are those that operands can be given by.
pub(crate) fn arguments(input: ParseStream<'_>, names: &[&str]) -> syn::Result<Arguments> {
    let (mut operands, mut named, mut settings) = (Vec::new(), Vec::new(), Vec::new());
    while !input.is_empty() {
        if input.peek(syn::Ident) && input.peek2(Token![=]) && !input.peek2(Token![==]) {
            let name: Ident = input.parse()?;
            input.parse::<Token![=]>()?;
            // In braces stands an extent, which is no tensor.
            if names.contains(&crate::ast::plain(&name).as_str()) && !input.peek(token::Brace) {
                named.push((name, input.parse()?));
            } else {
                settings.push(Setting { name, value: input.parse()? });
            }
        } else {
            let operand: Expr = input.parse()?;
            if !(settings.is_empty() && named.is_empty()) {
                return Err(syn::Error::new(operand.at.start(), text::OPERAND_AFTER_SETTING));
            }
            operands.push(operand);
        }
        if !input.is_empty() {
            input.parse::<Token![,]>().map_err(|_| stray(input, "`,` or `)`"))?;
        }
    }
    Ok((operands, named, settings))
}
