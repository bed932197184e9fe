//! Composed models on tokens: the calls that the compiler would make between the blocks' macros are made here.

use proc_macro2::{Delimiter, Group, TokenStream, TokenTree};
use quote::quote;

use super::{complaints, count, model_graph};
use crate::compose::compose;

pub(super) fn group(tree: Option<TokenTree>) -> Option<Group> {
    match tree {
        Some(TokenTree::Group(group)) => Some(group),
        _ => None,
    }
}

/// What the macro of an expanded model hands over.
pub(super) fn handed_over(expanded: &TokenStream) -> TokenStream {
    let mut trees = expanded.clone().into_iter();
    trees.by_ref().find(|tree| tree.to_string() == "macro_rules").expect("the model's macro");
    let rules = group(trees.nth(2)).expect("its rules").stream();
    let body = group(rules.into_iter().filter(|tree| matches!(tree, TokenTree::Group(_))).nth(1)).expect("its body");
    let passed = group(body.stream().into_iter().last()).expect("what is passed on").stream();
    group(passed.into_iter().next()).expect("the model").stream()
}

/// What a model that waits for its blocks passes to the macro of the next one.
fn passed(expanded: &TokenStream) -> Option<TokenStream> {
    let call = group(expanded.clone().into_iter().last())?;
    let mut trees = call.stream().into_iter();
    let callback = group(trees.next())?;
    (callback.delimiter() == Delimiter::Bracket).then(|| trees.collect())
}

/// Expands a model with its blocks in the order in which it names them.
pub(super) fn composed(
    settings: TokenStream,
    item: TokenStream,
    blocks: &[&TokenStream],
) -> (TokenStream, TokenStream) {
    let first = model_graph(settings, item);
    let last = blocks.iter().fold(first.clone(), |expanded, block| {
        let (model, rest) = (handed_over(block), passed(&expanded).expect("a call"));
        compose(quote! { {#model} {#rest} })
    });
    (first, last)
}

fn layer() -> TokenStream {
    let item = quote! {
        pub(crate) struct Layer {
            #[input]
            x: Tensor<f32, N>,
            #[weight]
            w: Tensor<f32, N>,
            #[constant([1.0; 4])]
            c: Tensor<f32, 4>,
            #[output(relu(x * w + c))]
            y: _,
        }
    };
    model_graph(quote! { dims(N = 4) }, item)
}

fn chain(copies: usize) -> TokenStream {
    quote! {
        struct Chain {
            #[input]
            x: Tensor<f32, 4>,
            #[node(Layer(x))]
            first: _,
            #[chain(first)]
            layers: [Layer; #copies],
            #[output(layers)]
            y: _,
        }
    }
}

#[test]
fn a_composed_model_is_emitted_once_and_the_same_every_time() {
    let layer = layer();
    let (first, last) = composed(TokenStream::new(), chain(3), &[&layer]);
    let (text, again) = (last.to_string(), composed(TokenStream::new(), chain(3), &[&layer]).1.to_string());
    assert_eq!(text, again);
    assert_eq!(complaints(&last), 0, "{text}");
    assert_eq!(first.to_string().matches("struct Chain <").count(), 1);
    assert_eq!(text.matches("struct Chain <").count(), 0);
    for part in ["fn first_w (", "fn layers_w_mut (", "\"layers.2.w\"", "< Layer > :: __CONSTANT_2", "fn forward ("] {
        assert!(text.contains(part), "no `{part}` in {text}");
    }
}

#[test]
fn blocks_of_blocks_are_handed_over_with_them() {
    let layer = layer();
    let (_, chain) = composed(TokenStream::new(), chain(3), &[&layer]);
    let item = quote! { struct Outer { #[input] x: Tensor<f32, 4>, #[output(other::Chain(x))] y: _, } };
    let (_, outer) = composed(TokenStream::new(), item, &[&chain]);
    let text = outer.to_string();
    assert_eq!(complaints(&outer), 0, "{text}");
    assert!(text.contains("\"y.layers.2.w\""), "{text}");
}

#[test]
fn what_is_wrong_with_a_block_is_not_said_again() {
    let broken = model_graph(
        TokenStream::new(),
        quote! { struct Layer { #[input] x: Tensor<f32, 4>, #[output(realu(x))] y: _, } },
    );
    assert_eq!(complaints(&broken), 1);
    let (_, last) = composed(TokenStream::new(), chain(3), &[&broken]);
    assert_eq!(complaints(&last), 0, "{last}");
    assert!(last.to_string().contains("fn forward ("));
    let unreadable = model_graph(TokenStream::new(), quote! { pub struct Layer; });
    let (_, last) = composed(TokenStream::new(), chain(3), &[&unreadable]);
    assert_eq!(complaints(&last), 0, "{last}");
}

/// A layer here is one weight, three tensors and two steps.
#[test]
fn expansion_grows_with_the_copies_and_not_faster() {
    let layer = layer();
    let [few, many] = [10, 50].map(|copies| count(composed(TokenStream::new(), chain(copies), &[&layer]).1));
    let per_copy = (many - few) / 40;
    assert!(per_copy <= 800, "{per_copy} tokens a copy");
}

#[test]
fn a_missing_token_never_panics() {
    let (layer, item) = (layer(), chain(2));
    for position in 0..super::soup::positions(&item) {
        let item = super::soup::at(item.clone(), &mut { position }, &|trees, index| {
            trees.remove(index);
        });
        let mut expanded = model_graph(TokenStream::new(), item);
        for _ in 0..3 {
            let Some(rest) = passed(&expanded) else { break };
            let model = handed_over(&layer);
            expanded = compose(quote! { {#model} {#rest} });
        }
        assert!(!expanded.is_empty());
    }
}

/// A number that was mistyped does not keep the compiler busy, in a chain or in chains of chains.
#[test]
fn copies_without_end_are_refused() {
    let layer = layer();
    let (_, last) = composed(TokenStream::new(), chain(usize::MAX), &[&layer]);
    assert_eq!(complaints(&last), 1);
    assert!(last.to_string().contains("write fewer"));
    let (_, inner) = composed(TokenStream::new(), chain(400), &[&layer]);
    let item = quote! {
        struct Outer { #[input] x: Tensor<f32, 4>, #[chain(x)] c: [Chain; 400], #[output(c)] y: _, }
    };
    let (_, last) = composed(TokenStream::new(), item, &[&inner]);
    assert_eq!(complaints(&last), 1);
}

#[test]
fn a_call_by_hand_is_refused() {
    for tokens in [quote! {}, quote! { {} {} }, quote! { {} {{} {} {} {} {}} }, quote! { a }] {
        assert_eq!(complaints(&compose(tokens)), 1);
    }
}
