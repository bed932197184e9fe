//! How a model gets hold of the blocks it is composed of, which stand elsewhere.
//!
//! Next to each model stands a macro of its name, which hands the model's tokens to whoever calls it. A model that names
//! blocks first expands to a call of the macro of one of them, with everything gathered so far; that macro calls
//! [`compose`], which calls the next one, and the last call emits the model. So a block's name is looked up where it is
//! used, like every other name, and its tokens keep their places in the source.
//!
//! A macro hands out the blocks of its model along with it, because their names mean something only where it stands.

use std::collections::BTreeMap;

use proc_macro2::{Delimiter, Group, Ident, Span, TokenStream, TokenTree};
use quote::{format_ident, quote, quote_spanned};
use syn::Visibility;

use crate::ast::{self, Block, Model};
use crate::error::{Report, text, too_nested};
use crate::expand::{Expanded, expand, rejected, structs};
use crate::operator::{self, Declared};
use crate::{parse, settings};

/// The whole attribute: settings and item in, item or complaints out. `place` is where it stands.
pub(crate) fn model_graph(attribute: TokenStream, item: TokenStream, place: &str) -> TokenStream {
    // What reads tokens recurses into groups.
    if let Some(group) = too_nested(&attribute).or_else(|| too_nested(&item)) {
        let mut report = Report::default();
        report.add(group, text::TOO_DEEP);
        return rejected(&report, item);
    }
    let mut work = Work { attribute, item, place: place.into(), gathered: Vec::new(), left: Vec::new() };
    let Some(model) = work.read(&mut Report::default()) else { return work.finish(true) };
    work.left = blocks(&model);
    if work.left.is_empty() {
        return work.finish(true);
    }
    // Emitted right away, so that there is no second wave of errors when a block cannot be found.
    let structs = structs(&model, None);
    let next = work.next(&model);
    quote! { #structs #next }
}

/// Goes on after a block has handed over its tokens.
pub(crate) fn compose(tokens: TokenStream) -> TokenStream {
    let Some(work) = Work::parse(tokens) else {
        return quote! { ::core::compile_error! { "this macro is called by expansions of `#[model_graph]` alone" } };
    };
    if work.left.is_empty() {
        return work.finish(false);
    }
    match work.read(&mut Report::default()) {
        Some(model) => work.next(&model),
        None => work.finish(false),
    }
}

/// The paths of the blocks that a model names, each once. Without its own: there is no macro of its name before it is
/// expanded.
fn blocks(model: &Model) -> Vec<TokenStream> {
    let mut paths: BTreeMap<String, ()> = BTreeMap::new();
    let own = [ast::plain(&model.name), String::from("Self")];
    let mut left = Vec::new();
    for block in model.uses() {
        let (key, path) = (block.key(), &block.path);
        if !own.contains(&key) && paths.insert(key, ()).is_none() {
            left.push(quote! { #path });
        }
    }
    left
}

/// A model whose blocks are being gathered.
struct Work {
    attribute: TokenStream,
    item: TokenStream,
    place: String,
    /// Paths of blocks, and what their macros handed over.
    gathered: Vec<(TokenStream, TokenStream)>,
    /// Paths of blocks that are still to come.
    left: Vec<TokenStream>,
}

impl Work {
    /// From what a block handed over and what [`Work::next`] passed to it.
    fn parse(tokens: TokenStream) -> Option<Work> {
        let [block, state] = <[TokenStream; 2]>::try_from(groups(tokens)?).ok()?;
        let [place, attribute, item, gathered, left] = <[TokenStream; 5]>::try_from(groups(state)?).ok()?;
        let mut left = groups(left)?;
        if left.is_empty() {
            return None;
        }
        let mut gathered = pairs(gathered)?;
        gathered.push((left.remove(0), block));
        Some(Work { attribute, item, place: place.to_string(), gathered, left })
    }

    fn read(&self, report: &mut Report) -> Option<Model> {
        let settings = settings::settings(self.attribute.clone(), report);
        parse::model(settings, self.item.clone(), report)
    }

    /// Calls the macro of the next block.
    fn next(&self, model: &Model) -> TokenStream {
        let Work { attribute, item, gathered, left, .. } = self;
        let place = TokenTree::from(proc_macro2::Literal::string(self.place.trim_matches('"')));
        let krate = model.krate();
        let gathered = gathered.iter().map(|(path, block)| quote! { {#path} {#block} });
        let Some(path) = left.first() else { return TokenStream::new() };
        // The compiler's note of where a block is used points at its name.
        let span = path.clone().into_iter().last().map_or_else(Span::call_site, |tree| tree.span());
        let call = quote_spanned!(span=> #path !);
        quote! {
            #call {
                [#krate::__private::compose]
                {#place} {#attribute} {#item} { #(#gathered)* } { #({#left})* }
            }
        }
    }

    /// Emits the model, now that all its blocks are there.
    fn finish(self, with_struct: bool) -> TokenStream {
        let mut report = Report::default();
        let Some(mut model) = self.read(&mut report) else {
            let rejected = rejected(&report, self.item.clone());
            let hand_over = self.salvaged();
            return quote! { #rejected #hand_over };
        };
        take_in(&mut model, self.gathered.iter().cloned());
        let Expanded { tokens, sound } = expand(&model, report, with_struct);
        let hand_over = self.hand_over(&model.vis, &model.name, sound);
        quote! { #tokens #hand_over }
    }

    /// The macro of a struct that could not be read, so that whoever uses it has nothing to complain of.
    fn salvaged(&self) -> Option<TokenStream> {
        let mut trees = self.item.clone().into_iter();
        trees.by_ref().find(|tree| matches!(tree, TokenTree::Ident(word) if word == "struct"))?;
        let Some(TokenTree::Ident(name)) = trees.next() else { return None };
        let name: Ident = syn::parse2(quote! { #name }).ok()?;
        Some(self.hand_over(&syn::parse_quote!(pub), &name, false))
    }

    /// The macro of the model's name.
    ///
    /// A macro is seen in other crates only when it is exported, which puts its name beside those of all others of the
    /// crate. So it has one that nobody else has, and an import gives it the model's name and visibility.
    fn hand_over(&self, vis: &Visibility, name: &Ident, sound: bool) -> TokenStream {
        let Work { attribute, item, gathered, .. } = self;
        let sound = format_ident!("{}", if sound { "sound" } else { "broken" });
        let gathered = gathered.iter().map(|(path, block)| quote! { {#path} {#block} });
        let model = quote! { {#sound} {#attribute} {#item} { #(#gathered)* } };
        hand_over(vis, name, &format!("{} {attribute} {item}", self.place.trim_matches('"')), &model)
    }
}

/// The macro of that name, which hands these tokens over. `text` is one that no other of the crate has.
pub(crate) fn hand_over(vis: &Visibility, name: &Ident, text: &str, tokens: &TokenStream) -> TokenStream {
    let (exported, hidden) = match vis {
        Visibility::Public(_) => {
            let export = quote! { #[macro_export] #[allow(non_local_definitions)] };
            (Some(export), format_ident!("__block_{}_{:016x}", ast::plain(name), hash(text)))
        }
        _ => (None, format_ident!("__block_{}", ast::plain(name))),
    };
    quote! {
        #[doc(hidden)]
        #[allow(unused_macros, clippy::all)]
        #exported
        macro_rules! #hidden {
            ([$($callback:tt)*] $($rest:tt)*) => {
                $($callback)* ! { { #tokens } { $($rest)* } }
            };
        }
        #[doc(hidden)]
        #[allow(unused_imports, unreachable_pub)]
        #vis use #hidden as #name;
    }
}

/// Gives a model the blocks and operators that it names, from what their macros handed over.
fn take_in(model: &mut Model, gathered: impl Iterator<Item = (TokenStream, TokenStream)>) {
    for (path, tokens) in gathered {
        match read(&tokens) {
            Some(Named::Block(block)) => _ = model.blocks.insert(ast::key(path), block),
            Some(Named::Operator(operator)) => _ = model.operators.insert(ast::key(path), operator),
            None => {}
        }
    }
}

/// What a path names.
enum Named {
    Block(Block),
    Operator(Declared),
}

fn read(tokens: &TokenStream) -> Option<Named> {
    let parts = <[TokenStream; 4]>::try_from(groups(tokens.clone())?).ok()?;
    match parts[0].to_string().as_str() {
        "operator" => operator::read(&parts[1], &parts[2]).map(Named::Operator),
        // It was complained of where it stands.
        "broken_operator" => Some(Named::Block(Block { model: None, sound: false })),
        _ => read_block(parts).map(Named::Block),
    }
}

/// A block from what its macro handed over.
fn read_block([sound, attribute, item, gathered]: [TokenStream; 4]) -> Option<Block> {
    let mut report = Report::default();
    let settings = settings::settings(attribute, &mut report);
    let mut model = parse::model(settings, item, &mut report);
    if let Some(model) = &mut model {
        take_in(model, pairs(gathered)?.into_iter());
    }
    Some(Block { model, sound: sound.to_string() == "sound" && report.is_empty() })
}

/// The contents of tokens that are all braced groups.
fn groups(tokens: TokenStream) -> Option<Vec<TokenStream>> {
    let inside = |tree| match tree {
        TokenTree::Group(group) if group.delimiter() == Delimiter::Brace => Some(Group::stream(&group)),
        _ => None,
    };
    tokens.into_iter().map(inside).collect()
}

fn pairs(tokens: TokenStream) -> Option<Vec<(TokenStream, TokenStream)>> {
    let mut groups = groups(tokens)?.into_iter();
    let mut pairs = Vec::new();
    while let Some(first) = groups.next() {
        pairs.push((first, groups.next()?));
    }
    Some(pairs)
}

/// FNV-1a, which is the same everywhere.
fn hash(text: &str) -> u64 {
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}
