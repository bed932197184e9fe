//! Operators that users' crates declare, on tokens: their attribute, and models that call them.

use std::panic::{AssertUnwindSafe, catch_unwind};

use proc_macro2::TokenStream;
use quote::quote;

use super::blocks::{composed, handed_over};
use super::complaints;
use super::soup::{at, changes, positions};
use crate::operator::operator;

/// One of everything a declaration has, small.
fn sample() -> (TokenStream, TokenStream) {
    let clauses = quote! {
        fn(x: f32 | i8 [.., { step * K }], at: u32, w: x[K, 2 * K], b?: f32[K, 3]) -> x[.., step * K],
        in_place = x, strided = [x, w, output], scratch = 4 * (K + 1) / 2 - 1, crate = ::model_graph
    };
    let item = quote! {
        /// An operator.
        #[derive(Clone, Debug)]
        pub(crate) struct Op {
            #[setting]
            step: usize,
            #[setting(default = -1e-5)]
            pub eps: f32,
            #[setting(default = [1, 2])]
            pair: [usize; 2],
            #[setting(default = false)]
            flag: bool,
        }
    };
    (clauses, item)
}

fn declared() -> TokenStream {
    let (clauses, item) = sample();
    operator(clauses, item, "")
}

fn model(call: TokenStream) -> TokenStream {
    quote! {
        struct M {
            #[input]
            x: Tensor<f32, 2, 8>,
            #[input]
            at: Tensor<u32>,
            #[weight]
            w: Tensor<f32, 4, 8>,
            #[output(#call)]
            y: Tensor<f32, 2, 8>,
        }
    }
}

#[test]
fn a_declaration_and_a_call_without_a_slip() {
    let declared = declared();
    assert_eq!(complaints(&declared), 0, "{declared}");
    assert!(syn::parse2::<syn::File>(declared.clone()).is_ok(), "{declared}");
    let call = quote! { path::Op(x * 2, at, w = w, step = 2, flag = true, eps = 1) };
    let (_, last) = composed(TokenStream::new(), model(call), &[&declared]);
    assert_eq!(complaints(&last), 0, "{last}");
    let last = last.to_string();
    assert!(last.contains("__Buffer : :: model_graph :: Kernel < path :: Op >"), "{last}");
    assert!(last.contains("with ((2usize , 1f32 , [1usize , 2usize] , true ,))"), "{last}");
}

#[test]
fn what_is_wrong_with_a_declaration_is_said_once() {
    let declared = operator(quote! { fn(x: f32[N]) -> f32[M] }, quote! { struct Op; }, "");
    assert_eq!(complaints(&declared), 1);
    assert_eq!(
        handed_over(&declared).into_iter().next().map(|kind| kind.to_string()),
        Some("{ broken_operator }".into())
    );
    let (_, last) = composed(TokenStream::new(), model(quote! { Op(x, at, w) }), &[&declared]);
    assert_eq!(complaints(&last), 0, "{last}");
}

#[test]
fn a_declaration_made_twice_is_the_same() {
    assert_eq!(declared().to_string(), declared().to_string());
}

#[test]
fn one_slip_anywhere_never_panics() {
    let (clauses, item) = sample();
    let try_out = |clauses: TokenStream, item: TokenStream| {
        let given = format!("#[operator({clauses})] {item}");
        let emitted = catch_unwind(AssertUnwindSafe(|| operator(clauses, item, "")));
        let Ok(emitted) = emitted else { panic!("panicked on\n{given}") };
        assert!(
            complaints(&emitted) > 0 || syn::parse2::<syn::File>(emitted.clone()).is_ok(),
            "{given}\nbecame\n{emitted}"
        );
    };
    for (number, change) in changes().iter().enumerate() {
        let due = |position: &usize| number < 4 || (number + position).is_multiple_of(6);
        for position in (0..positions(&clauses)).filter(due) {
            try_out(at(clauses.clone(), &mut { position }, change), item.clone());
        }
        for position in (0..positions(&item)).filter(due) {
            try_out(clauses.clone(), at(item.clone(), &mut { position }, change));
        }
    }
}

#[test]
fn one_slip_in_a_call_never_panics() {
    let declared = declared();
    let call = quote! { Op(x * 2, at, w = w[..4], step = 2, flag = true, eps = -1.5, pair = [0, 1]) };
    for (number, change) in changes().iter().enumerate() {
        let due = |position: &usize| number < 4 || (number + position).is_multiple_of(6);
        for position in (0..positions(&call)).filter(due) {
            let call = at(call.clone(), &mut { position }, change);
            let given = call.to_string();
            let item = model(call);
            let first = super::model_graph(TokenStream::new(), item.clone());
            // Where no block is named any more the model is complete.
            if first.to_string().contains("__private :: compose]") {
                let expanded = catch_unwind(AssertUnwindSafe(|| composed(TokenStream::new(), item, &[&declared])));
                assert!(expanded.is_ok(), "panicked on {given}");
            }
        }
    }
}
