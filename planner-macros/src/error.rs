//! Complaints: where they point, and the texts that more than one place gives. A text that belongs to one rule stands
//! beside that rule.

use std::fmt::Display;

use proc_macro2::{Delimiter, Group, Ident, Punct, Spacing, Span, TokenStream, TokenTree};
use quote::{ToTokens, quote_spanned};
use syn::parenthesized;
use syn::parse::{ParseStream, Parser};

/// A run of the user's tokens.
#[derive(Clone, Copy, Debug)]
pub(crate) struct At {
    start: Span,
    end: Span,
}

impl At {
    /// One token.
    pub(crate) fn token(span: Span) -> At {
        At { start: span, end: span }
    }

    /// From the first token of `tokens` to the last; the call site when there is none.
    pub(crate) fn tokens(tokens: impl ToTokens) -> At {
        let mut spans = tokens.into_token_stream().into_iter().map(|tree| tree.span());
        let start = spans.next().unwrap_or_else(Span::call_site);
        At { start, end: spans.last().unwrap_or(start) }
    }

    /// From here to the end of `other`.
    pub(crate) fn to(self, other: At) -> At {
        At { start: self.start, end: other.end }
    }

    /// The first token.
    pub(crate) fn start(self) -> Span {
        self.start
    }

    /// The last token.
    pub(crate) fn end(self) -> Span {
        self.end
    }
}

impl From<&Ident> for At {
    fn from(ident: &Ident) -> At {
        At::token(ident.span())
    }
}

#[derive(Debug)]
struct Complaint {
    at: At,
    text: String,
    /// It says which block it is about.
    noted: bool,
}

/// Everything that is wrong so far.
#[derive(Debug, Default)]
pub(crate) struct Report {
    complaints: Vec<Complaint>,
    /// Something is wrong that was complained of elsewhere.
    hushed: bool,
}

impl Report {
    /// Adds a complaint.
    pub(crate) fn add(&mut self, at: impl Into<At>, text: impl Display) {
        self.complaints.push(Complaint { at: at.into(), text: text.to_string(), noted: false });
    }

    /// Adds what a parser said.
    pub(crate) fn syntax(&mut self, error: &syn::Error) {
        for error in error.clone() {
            let text = error.to_string();
            // Where the user's tokens end is underlined; the words are the caller's.
            self.add(At::token(error.span()), text.strip_prefix("unexpected end of input, ").unwrap_or(&text));
        }
    }

    /// Adds everything of another report.
    pub(crate) fn append(&mut self, other: Report) {
        self.complaints.extend(other.complaints);
        self.hushed |= other.hushed;
    }

    /// Something is wrong that is complained of where it stands, which is elsewhere.
    pub(crate) fn hush(&mut self) {
        self.hushed = true;
    }

    /// How many complaints there are.
    pub(crate) fn len(&self) -> usize {
        self.complaints.len()
    }

    /// Says of the complaints from number `first` on where the block is used that they are about, unless they say so.
    pub(crate) fn note(&mut self, first: usize, place: &str) {
        for complaint in self.complaints.iter_mut().skip(first).filter(|complaint| !complaint.noted) {
            complaint.text.push_str(place);
            complaint.noted = true;
        }
    }

    /// True while nothing is wrong.
    pub(crate) fn is_empty(&self) -> bool {
        self.complaints.is_empty() && !self.hushed
    }
}

impl ToTokens for Report {
    fn to_tokens(&self, tokens: &mut TokenStream) {
        for Complaint { at, text, .. } in &self.complaints {
            // The macro's name takes the first token's span and its argument the last one's, so that the compiler
            // underlines everything in between.
            let mut argument = TokenTree::from(proc_macro2::Literal::string(text));
            argument.set_span(at.end);
            let mut group = TokenTree::from(Group::new(Delimiter::Brace, argument.into()));
            group.set_span(at.end);
            let mut bang = TokenTree::from(Punct::new('!', Spacing::Alone));
            bang.set_span(at.start);
            tokens.extend(quote_spanned!(at.start => ::core::compile_error));
            tokens.extend([bang, group]);
        }
    }
}

impl From<Span> for At {
    fn from(span: Span) -> At {
        At::token(span)
    }
}

/// Parses all of `tokens`; what is missing at their end is reported at `end`, not at the call site.
pub(crate) fn parse_within<T>(
    tokens: TokenStream,
    end: Span,
    parse: impl FnOnce(ParseStream<'_>) -> syn::Result<T>,
) -> syn::Result<T> {
    let mut group = Group::new(Delimiter::Parenthesis, tokens);
    group.set_span(end);
    let parser = |input: ParseStream<'_>| {
        let content;
        parenthesized!(content in input);
        parse(&content)
    };
    parser.parse2(TokenTree::from(group).into())
}

/// The first group that lies within too many others.
pub(crate) fn too_nested(tokens: &TokenStream) -> Option<Span> {
    fn search(tokens: TokenStream, left: usize) -> Option<Span> {
        tokens.into_iter().find_map(|tree| match (tree, left.checked_sub(1)) {
            (TokenTree::Group(group), None) => Some(group.span_open()),
            (TokenTree::Group(group), Some(left)) => search(group.stream(), left),
            _ => None,
        })
    }
    search(tokens.clone(), 100)
}

/// `did you mean …` when there is a near name, else the list.
pub(crate) fn suggestion(nearest: Option<&str>, known: &[&str]) -> String {
    match nearest {
        Some(name) => format!("did you mean `{name}`?"),
        None if known.is_empty() => String::from("there are none"),
        None if known.len() == 1 => format!("there is {}", list(known)),
        None => format!("there are {}", list(known)),
    }
}

/// `a`, `b` and `c`.
pub(crate) fn list(names: &[&str]) -> String {
    let quoted: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
    match quoted.split_last() {
        None => String::new(),
        Some((only, [])) => only.clone(),
        Some((last, rest)) => format!("{} and {last}", rest.join(", ")),
    }
}

/// Texts that more than one place gives, or that are whole sentences of advice.
pub(crate) mod text {
    pub(crate) const NOT_A_STRUCT: &str =
        "`#[model_graph]` is written on a struct with named fields: `struct Model { #[input] x: Tensor<f32, 4>, … }`";
    pub(crate) const TUPLE_STRUCT: &str = "a model's tensors need names, so a tuple struct cannot be one; write \
         `struct Model { #[input] x: Tensor<f32, 4>, … }`";
    pub(crate) const UNIT_STRUCT: &str = "a struct without fields declares no tensors; write \
         `struct Model { #[input] x: Tensor<f32, 4>, … }`";
    pub(crate) const DERIVE: &str = "a model is one buffer whose bytes are planned, not the fields that are declared; \
         only `Debug` can be";
    pub(crate) const FIELD: &str = "a tensor is declared as `name: Tensor<dtype, extents…>` after its attributes, such \
         as `#[input] x: Tensor<f32, 4>`";
    pub(crate) const ATTRIBUTE: &str = "an attribute is written `#[name]` or `#[name(…)]`, such as `#[node(relu(x))]`";
    pub(crate) const FILL: &str = "expected the path of a function that writes the constant: `fill = function`, with \
         `fn function(out: &mut [f32; 4])` for a `Tensor<f32, 4>`";
    pub(crate) const OPERAND: &str = "expected a tensor, a number or an operator call such as `relu(x)`";
    pub(crate) const TOO_DEEP: &str = "too much lies within each other here; give a part of it a name: a field \
         `#[node(…)] part: _` or a dim `PART = …`";
    pub(crate) const DIM: &str = "a dim is declared as `NAME = n`, such as `dims(BATCH = 32)`, or as `NAME <= n` where its \
         value comes with the inputs";
    pub(crate) const DIM_BOUND: &str = "an open dim is declared with the largest value that it can have, such as \
         `dims(SEQ <= 512)`; the least is 1";
    pub(crate) const OPEN_NUMBER: &str = "it is known only where the program runs, and a number that is fixed is needed \
         here; write a number or a dim declared as `NAME = n`";
    pub(crate) const RESERVED: &str = "names that start with two underscores are kept for the emitted code; give this \
         one another name";
    pub(crate) const GENERICS: &str = "a model cannot be generic: its memory is planned for fixed extents; \
         write the extents as `dims(NAME = n)` in the attribute";
    pub(crate) const STATE: &str = "`#[state]` takes nothing: a state is zero at the start; write `#[state]`, and set it \
         through its `…_mut()` where it is to begin as something else";
    pub(crate) const CONSTANT_WRITE: &str = "a constant is worked out once, and a state is written by every forward: write it in \
         a field of its own, `#[node(write(…))] next: _`";
    pub(crate) const NO_ROLE: &str = "every field needs a role: `#[input]`, `#[weight]`, `#[state]`, `#[constant(…)]`, \
         `#[node(…)]`, `#[chain(…)]` or `#[output(…)]`";
    pub(crate) const CHAIN_NO_ROLE: &str =
        "copies of a block need the tensor that goes through them: write `#[chain(x)]` on the field";
    pub(crate) const BLOCK_CALL: &str = "a block is given its inputs: `Block(x)`, or `Block<D = 4>(x)` to bind a dim";
    pub(crate) const RUST_CONSTANT: &str = "what is written in Rust is not seen here; write the number, a dim, or a field \
         with that value: `#[constant(path::OF::IT)] c: Tensor<f32>`";
    pub(crate) const BLOCK_SETTING: &str =
        "a block has no settings, only dims, which stand before its inputs: `Block<D = 4>(x)`";
    pub(crate) const BIND: &str =
        "a block's dims are bound by name to extents: `Block<D = 4>(x)`, or `#[chain(x, D = 4)]`";
    pub(crate) const CHAIN_BIND: &str = "within a type the compiler takes a name here and nothing else; bind the dim in the \
         attribute: `#[chain(x, D = 4)]`";
    pub(crate) const CHAIN: &str =
        "`#[chain]` needs the tensor that goes through it, and whatever else each copy is given: `#[chain(x, mask)]`";
    pub(crate) const CHAIN_TYPE: &str = "the type of a `#[chain(…)]` is a block and how many of it: `[Block; 12]`";
    pub(crate) const CHAIN_ROLE: &str =
        "copies of a block are put one after the other by `#[chain(x)]`; a single one is `#[node(Block(x))] h: _`";
    pub(crate) const TOO_MANY_COPIES: &str =
        "with so many copies the model has more than 20000 tensors, which is not planned; write fewer: `[Block; 12]`";
    pub(crate) const COPIES: &str = "a chain has at least one copy; write how many: `[Block; 12]`";
    pub(crate) const OPEN_CONSTANT: &str = "a constant is worked out where it is written, and one of its extents is bound \
         only where the model is used; make it an input";
    pub(crate) const NO_OUTPUT: &str = "the model has no output, so there would be nothing to compute; \
         write `#[output(…)]` on a field";
    pub(crate) const TYPE: &str =
        "a tensor's type is `Tensor<dtype, extents…>`, such as `Tensor<f32, 32, 784>`, or `_` to have it inferred";
    pub(crate) const OTHER_TYPE: &str = "a tensor's type is `Tensor<dtype, extents…>`, such as `Tensor<f32, 32, 784>`, or `_` to have it inferred; \
         a block stands in the expression: `#[node(Block(x))] h: _`";
    pub(crate) const EXTENT: &str = "an extent is a number, a name from `dims(…)`, or an expression of them with `+ - * /` in braces, \
         such as `{ 4 * D }`; one that comes with the inputs is declared as a dim, `dims(N <= 512)`";
    pub(crate) const SETTINGS: &str = "the attribute takes `dims(NAME = n, …)`, `align = n`, `effort = \"high\"`, \
         `order = \"min_peak\"`, `fuse = false`, `weights = \"shared\"` and `crate = path`";
    pub(crate) const ONE_BY_ONE: &str = "operands are given one by one, not as a list: `concat(a, b, axis = 0)`";
    pub(crate) const TUPLE: &str = "there are no tuples: operands are given one by one, `concat(a, b, axis = 0)`, and the \
         state of `lstm` is one tensor, h and then c";
    pub(crate) const LIST: &str = "a list stands in brackets, such as `[1, 1]`";
    pub(crate) const POWER: &str = "there is no `**`; write a product, such as `x * x`";
    pub(crate) const NEGATIVE_INDEX: &str = "an index counts from the start: where there are T elements, the last one is `x[T - 1]` and the last \
         two are `x[T - 2..]`";
    pub(crate) const SETTING_NOT_NAMED: &str =
        "settings are named: write `name = value`, such as `reshape(x, shape = [2, 3])`";
    pub(crate) const OPERAND_AFTER_SETTING: &str =
        "operands come before settings: write this one before the first `name = value`";
    pub(crate) const CAST_TO_BLOCKS: &str = "weights are put into blocks before a model runs, with `model_graph::quantise`; \
         cast to f32, f16, bf16, an integer or bool";
    pub(crate) const CHAINED: &str = "comparisons do not follow one another; join two of them: `(a < b) & (b < c)`";
    pub(crate) const LAZY: &str = "tensors are joined element by element: write `&` or `|`";
    pub(crate) const RANGE: &str =
        "an index is a range per dimension: `x[1..3]`, `x[.., 2..]`, or one number, `x[4]`, which drops the dimension";
}
