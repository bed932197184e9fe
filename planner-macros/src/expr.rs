//! The expressions inside `#[node(…)]` and `#[output(…)]`.

use proc_macro2::{Delimiter, Ident, TokenTree};
use syn::ext::IdentExt;
use syn::parse::{Parse, ParseStream};
use syn::punctuated::Punctuated;
use syn::{Lit, LitBool, LitFloat, LitInt, LitStr, Token, bracketed, parenthesized, token};

use crate::ast::BlockRef;
use crate::dims::DimExpr;
use crate::error::{At, text};

/// An expression with the tokens it was written in.
pub(crate) struct Expr {
    pub(crate) at: At,
    pub(crate) kind: ExprKind,
    /// How many expressions lie within each other, this one included.
    depth: usize,
}

/// The largest [`Expr`] depth and extent depth that is read. What walks them recurses, on the compiler's own stack.
pub(crate) const MAX_DEPTH: usize = 256;

pub(crate) enum ExprKind {
    /// A tensor, or a dim as a number.
    Name(Ident),
    /// A number.
    Number(f64),
    /// An operator call. For `+` and the like, `name` is the sign's place.
    Call {
        name: At,
        op: String,
        operands: Vec<Expr>,
        /// Operands given by name: `at = position`.
        named: Vec<(Ident, Expr)>,
        settings: Vec<Setting>,
    },
    /// Another model, `path::Block<D = 4>(x, mask)`, or an operator that a user's crate declares, `path::Op(x, n = 4)`.
    Block { block: BlockRef, operands: Vec<Expr>, given: Vec<Given> },
    /// `x[1..3, ..]`.
    Index { of: Box<Expr>, ranges: Vec<Range> },
    /// `x as f32`.
    Cast { of: Box<Expr>, dtype: Ident },
}

/// `name = …` in a call of what is not known yet: an operand where it can be read as one, and a setting where it can.
pub(crate) struct Given {
    pub(crate) name: Ident,
    pub(crate) operand: syn::Result<Expr>,
    pub(crate) setting: syn::Result<Setting>,
}

/// `name = value`.
pub(crate) struct Setting {
    pub(crate) name: Ident,
    pub(crate) value: Value,
}

/// The value of a setting.
pub(crate) struct Value {
    pub(crate) at: At,
    pub(crate) kind: ValueKind,
}

pub(crate) enum ValueKind {
    Float(f64),
    Bool(bool),
    /// A number, a name or arithmetic; a lone name may be a word such as `nhwc`.
    Dim {
        negative: bool,
        dim: DimExpr,
        word: Option<Ident>,
    },
    List(Vec<Value>),
    Infer,
}

/// One dimension's range in an index.
pub(crate) enum Range {
    /// `..` and its halves.
    Span { at: At, start: Option<DimExpr>, end: Option<DimExpr> },
    /// One index, which drops the dimension.
    One(DimExpr),
}

impl Expr {
    fn new(at: At, kind: ExprKind) -> Expr {
        let inside = match &kind {
            ExprKind::Name(_) | ExprKind::Number(_) => 0,
            ExprKind::Call { operands, named, .. } => {
                let named = named.iter().map(|(_, operand)| operand);
                operands.iter().chain(named).map(|operand| operand.depth).max().unwrap_or(0)
            }
            ExprKind::Block { operands, given, .. } => {
                operands.iter().chain(by_name(given)).map(|operand| operand.depth).max().unwrap_or(0)
            }
            ExprKind::Index { of, .. } | ExprKind::Cast { of, .. } => of.depth,
        };
        Expr { at, kind, depth: inside + 1 }
    }

    /// Calls `visit` with every name that stands for a tensor or a dim.
    pub(crate) fn names<'a>(&'a self, visit: &mut dyn FnMut(&'a Ident)) {
        match &self.kind {
            ExprKind::Name(name) => visit(name),
            ExprKind::Number(_) => {}
            ExprKind::Call { operands, named, .. } => {
                operands.iter().for_each(|operand| operand.names(visit));
                named.iter().for_each(|(_, operand)| operand.names(visit));
            }
            ExprKind::Block { operands, given, .. } => {
                operands.iter().chain(by_name(given)).for_each(|operand| operand.names(visit));
            }
            ExprKind::Index { of, .. } | ExprKind::Cast { of, .. } => of.names(visit),
        }
    }

    /// Calls `visit` with every block.
    pub(crate) fn blocks<'a>(&'a self, visit: &mut dyn FnMut(&'a BlockRef)) {
        match &self.kind {
            ExprKind::Name(_) | ExprKind::Number(_) => {}
            ExprKind::Call { operands, named, .. } => {
                operands.iter().for_each(|operand| operand.blocks(visit));
                named.iter().for_each(|(_, operand)| operand.blocks(visit));
            }
            ExprKind::Block { block, operands, given } => {
                visit(block);
                operands.iter().chain(by_name(given)).for_each(|operand| operand.blocks(visit));
            }
            ExprKind::Index { of, .. } | ExprKind::Cast { of, .. } => of.blocks(visit),
        }
    }

    /// Calls `visit` with what every `write` in it writes.
    pub(crate) fn writes<'a>(&'a self, visit: &mut dyn FnMut(&'a Expr)) {
        match &self.kind {
            ExprKind::Name(_) | ExprKind::Number(_) => {}
            ExprKind::Call { operands, named, .. } => {
                operands.iter().for_each(|operand| operand.writes(visit));
                named.iter().for_each(|(_, operand)| operand.writes(visit));
                if let Some(written) = self.written() {
                    visit(written);
                }
            }
            ExprKind::Block { operands, given, .. } => {
                operands.iter().chain(by_name(given)).for_each(|operand| operand.writes(visit));
            }
            ExprKind::Index { of, .. } | ExprKind::Cast { of, .. } => of.writes(visit),
        }
    }

    /// What it writes, when it is a `write` itself.
    pub(crate) fn written(&self) -> Option<&Expr> {
        let ExprKind::Call { op, operands, named, .. } = &self.kind else { return None };
        let state = named.iter().find(|(name, _)| name == "state").map(|(_, operand)| operand);
        if op == "write" { operands.first().or(state) } else { None }
    }

    /// True for a number, with signs before it or none.
    pub(crate) fn is_number(&self) -> bool {
        match &self.kind {
            ExprKind::Number(_) => true,
            ExprKind::Call { op, operands, .. } => op == "neg" && operands.iter().all(Expr::is_number),
            _ => false,
        }
    }

    /// The expression, unless it is too deep; `at` is the token that made it so.
    fn bounded(self, at: proc_macro2::Span) -> syn::Result<Expr> {
        if self.depth > MAX_DEPTH { Err(syn::Error::new(at, text::TOO_DEEP)) } else { Ok(self) }
    }
}

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
    if input.peek(Token![.]) {
        input.error("there are no methods: an operator is called by its name, `relu(x)` instead of `x.relu()`")
    } else if input.peek(Token![:]) && !input.peek(Token![::]) {
        input.error("a setting is written with `=`, such as `axis = 1`")
    } else if input.peek(Token![::]) {
        input.error("there are no paths: a tensor or an operator is one name")
    } else if input.peek(Token![@]) {
        input.error("there is no `@`; write `matmul(a, b)`")
    } else if input.peek(Token![<]) {
        input.error("only a block has dims to bind, and its name starts with a capital letter: `Block<D = 4>(x)`")
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

/// What can be read as operands of those that are given by name.
fn by_name(given: &[Given]) -> impl Iterator<Item = &Expr> {
    given.iter().filter_map(|given| given.operand.as_ref().ok())
}

/// Operands, operands by name, settings.
type Arguments = (Vec<Expr>, Vec<(Ident, Expr)>, Vec<Setting>);

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
