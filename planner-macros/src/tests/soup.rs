//! Models that were typed wrongly: every one of some thousands has to be complained of or accepted, never to end in
//! a panic, and what is emitted has to be items that the compiler can read.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::str::FromStr;

use proc_macro2::{Group, TokenStream, TokenTree};
use quote::quote;

use super::model_graph;

/// One of everything the language has, small.
fn sample() -> (TokenStream, TokenStream) {
    let item = quote! {
        /// A model.
        #[derive(Debug)]
        pub(crate) struct M {
            #[input(keep)]
            pub x: Tensor<f32, B, { 2 * C - 2 }>,
            #[weight(name = "a.b")]
            r#type: Tensor<f32, C>,
            #[constant([1.0; 4])]
            c: Tensor<f32, 4,>,
            #[constant(fill = table::ramp)]
            f: Tensor<i32>,
            #[node(softmax(x[.., ..C] + -c[0] * 0.5, axis = -1) / (r#type as f32))]
            #[keep]
            n: _,
            #[allow(unused)]
            #[node(max_pool2d(reshape(x, shape = [1, B, 4, 1]), kernel = [1, 2], padding = same, layout = nhwc))]
            m: _,
            #[output(reshape(n, shape = [_, B]))]
            y: Tensor<f32, C, B>,
        }
    };
    (quote! { dims(B = 2, C = B + 1), align = 64, effort = "high", crate = ::model_graph }, item)
}

/// One of everything that states, open dims, element types and blocks add, small.
fn later_sample() -> (TokenStream, TokenStream) {
    let item = quote! {
        struct M {
            #[input]
            x: Tensor<f16, S, { 2 * H + 1 }>,
            #[input]
            wide: Tensor<f32, H, 32>,
            #[input(keep)]
            at: Tensor<u32>,
            #[weight]
            table: Tensor<q4_0, 6, 32>,
            #[state]
            s: Tensor<f32, 8, 6>,
            #[state]
            whole: Tensor<i64, 2>,
            #[node(write(s, src = linear(wide, table), at = at, axis = 0))]
            kept: _,
            #[node(write(whole, whole - 1 & 3))]
            next: _,
            #[output(split(concat(x, x[.., { H + 1 }..], axis = 1), axis = -1, parts = 1)[0][.., ..H])]
            part: Tensor<f16, S, H>,
            #[output(where((x > 0.5) & !(x as bool), x, 0))]
            picked: _,
            #[output(attention(linear(wide, table), kept[..7, ..], s[1..], past = at) + gather(table, at)[..6])]
            seen: _,
            #[output(gather(s, (next % 3) as i32))]
            rows: Tensor<f32, 2, 6>,
        }
    };
    (quote! { dims(S <= 3, H <= 4), weights = "shared", order = "min_peak", fuse = false }, item)
}

/// Tokens that a slip of the hand puts in place of another.
fn strangers() -> Vec<TokenTree> {
    let text = r#"# , < > = _ - . : ; & ! | struct pub self type r#x x B M 0 1.5 99999999999999999999 -1 "s" 'c' b"s" true
        () [] {} (x) [1, 2] { B } (,) [..]"#;
    TokenStream::from_str(text).expect("tokens").into_iter().collect()
}

/// Number of tokens, those in groups among them.
pub(super) fn positions(tokens: &TokenStream) -> usize {
    let inside = |tree| match tree {
        TokenTree::Group(group) => 1 + positions(&group.stream()),
        _ => 1,
    };
    tokens.clone().into_iter().map(inside).sum()
}

/// Lets `change` rewrite the tokens from the one at `position` on to the end of its group.
pub(super) fn at(
    tokens: TokenStream,
    position: &mut usize,
    change: &dyn Fn(&mut Vec<TokenTree>, usize),
) -> TokenStream {
    let mut trees: Vec<TokenTree> = tokens.into_iter().collect();
    let mut index = 0;
    while index < trees.len() {
        if *position == 0 {
            change(&mut trees, index);
            *position = usize::MAX;
            break;
        }
        *position -= 1;
        if let TokenTree::Group(group) = &trees[index] {
            let mut inner = Group::new(group.delimiter(), at(group.stream(), position, change));
            inner.set_span(group.span());
            trees[index] = inner.into();
            if *position == usize::MAX {
                break;
            }
        }
        index += 1;
    }
    trees.into_iter().collect()
}

fn try_out(settings: TokenStream, item: TokenStream) {
    let given = format!("#[model_graph({settings})] {item}");
    let emitted = catch_unwind(AssertUnwindSafe(|| model_graph(settings, item.clone())));
    let Ok(emitted) = emitted else { panic!("panicked on\n{given}") };
    // An item that is no struct is handed back as it came, and so is the expression of a constant.
    let constants = ["# [constant ([1.0 ; 4])]", "# [constant (fill = table :: ramp)]"];
    let same = constants.iter().all(|constant| given.contains(constant)) && given.matches("constant").count() == 2;
    if same && !emitted.to_string().ends_with(&item.to_string()) {
        assert!(syn::parse2::<syn::File>(emitted.clone()).is_ok(), "{given}\nbecame\n{emitted}");
    }
}

type Change = Box<dyn Fn(&mut Vec<TokenTree>, usize)>;

pub(super) fn changes() -> Vec<Change> {
    let mut changes: Vec<Change> = vec![
        Box::new(|trees, index| {
            trees.remove(index);
        }),
        Box::new(|trees, index| {
            let copy = trees[index].clone();
            trees.insert(index, copy);
        }),
        Box::new(|trees, index| {
            if index + 1 < trees.len() {
                trees.swap(index, index + 1);
            }
        }),
        Box::new(Vec::truncate),
    ];
    for stranger in strangers() {
        let before = stranger.clone();
        changes.push(Box::new(move |trees, index| trees[index] = stranger.clone()));
        changes.push(Box::new(move |trees, index| trees.insert(index, before.clone())));
    }
    changes
}

#[test]
fn without_a_slip_there_is_no_complaint() {
    let (settings, item) = sample();
    let emitted = model_graph(settings, item).to_string();
    assert!(!emitted.contains("compile_error !"), "{emitted}");
    let (settings, item) = later_sample();
    let emitted = model_graph(settings, item).to_string();
    assert!(!emitted.contains("compile_error !"), "{}", &emitted[..3000]);
}

#[test]
fn one_slip_anywhere_never_panics() {
    one_slip_anywhere(sample());
}

#[test]
fn one_slip_anywhere_in_the_later_half_never_panics() {
    one_slip_anywhere(later_sample());
}

fn one_slip_anywhere((settings, item): (TokenStream, TokenStream)) {
    for (number, change) in changes().iter().enumerate() {
        // The first four everywhere, each of the others at every sixth place.
        let due = |position: &usize| number < 4 || (number + position).is_multiple_of(6);
        for position in (0..positions(&settings)).filter(due) {
            try_out(at(settings.clone(), &mut { position }, change), item.clone());
        }
        for position in (0..positions(&item)).filter(due) {
            try_out(settings.clone(), at(item.clone(), &mut { position }, change));
        }
    }
}

#[test]
fn several_slips_never_panic() {
    several_slips(sample());
}

#[test]
fn several_slips_in_the_later_half_never_panic() {
    several_slips(later_sample());
}

fn several_slips((settings, item): (TokenStream, TokenStream)) {
    let changes = changes();
    // A fixed sequence: the test is the same on every machine.
    let mut state = 1u64;
    let mut next = |below: usize| {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (state >> 33) as usize % below
    };
    for _ in 0..1000 {
        let (mut settings, mut item) = (settings.clone(), item.clone());
        for _ in 0..4 {
            let change = &changes[next(changes.len())];
            let count = positions(&item);
            item = at(item, &mut next(count.max(1)), change);
            if next(4) == 0 {
                let count = positions(&settings);
                settings = at(settings, &mut next(count.max(1)), change);
            }
        }
        try_out(settings, item);
    }
}
