//! Steps of operators that users' crates declare. Where the model stands an operator goes by its path; one that a block
//! calls is run by the block, because its name may mean something only where that stands.

use model_graph_planner::op::{Fields, Operator, OwnCall};
use proc_macro2::TokenStream;
use quote::quote;
use syn::Path;

use super::shared;
use super::steps::setting;
use crate::ast::{Model, Origin};
use crate::operator::emit::settings;

/// A step's operator as such a call, and where its type can be named from.
pub(super) fn call<'a>(op: &'a dyn Operator, origins: &'a [Origin<'a>]) -> Option<(&'a OwnCall, &'a Origin<'a>)> {
    let call = op.as_any().downcast_ref::<OwnCall>()?;
    Some((call, origins.get(call.key)?))
}

/// What has to hold of the buffer.
pub(super) fn bound(origin: &Origin<'_>, krate: &Path) -> TokenStream {
    match origin {
        Origin::Here { path, .. } => quote! { __Buffer: #krate::Kernel<#path> },
        Origin::Through { block, shares, number, rule } => {
            let (block, settings) = (named(block, *shares), settings(rule));
            quote! { #block: #krate::__private::Runs<__Buffer, #number, Settings = #settings> }
        }
    }
}

/// A block's type, of the default buffers and any lifetime.
fn named(block: &Path, shares: bool) -> TokenStream {
    if shares {
        quote! { #block<'static> }
    } else {
        quote! { #block }
    }
}

/// The step, as an expression that is a result.
pub(super) fn run(call: &OwnCall, origin: &Origin<'_>, views: [&TokenStream; 4], krate: &Path) -> TokenStream {
    let mut values = TokenStream::new();
    call.fields(&mut |_, value| {
        let value = setting(value, krate);
        values.extend(quote! { #value, });
    });
    let [inputs, outputs, scratch, shared] = views;
    match origin {
        Origin::Here { path, .. } => quote! {
            #krate::Kernel::run(
                &mut self.buffer,
                &#krate::Call {
                    op: <#path as #krate::op::Own>::with((#values)),
                    inputs: #inputs,
                    outputs: #outputs,
                    scratch: #scratch,
                    shared: #shared,
                },
            )
        },
        Origin::Through { block, shares, number, .. } => {
            let block = named(block, *shares);
            quote! {
                <#block as #krate::__private::Runs<__Buffer, #number>>::run(
                    &mut self.buffer,
                    (#values),
                    #inputs,
                    #outputs,
                    #scratch,
                    #shared,
                )
            }
        }
    }
}

/// What models that use this one as a block run its operators by.
pub(super) fn hand_on(model: &Model) -> TokenStream {
    let (name, krate) = (&model.name, model.krate());
    let lifetime = shared::generics(model, &krate).default;
    let runs = model.origins().into_iter().enumerate().map(|(place, origin)| {
        let (bound, settings) = (bound(&origin, &krate), settings(origin.rule()));
        let run = match &origin {
            Origin::Here { path, .. } => quote! {
                #krate::Kernel::run(
                    __buffer,
                    &#krate::Call {
                        op: <#path as #krate::op::Own>::with(__settings),
                        inputs: __inputs,
                        outputs: __outputs,
                        scratch: __scratch,
                        shared: __shared,
                    },
                )
            },
            Origin::Through { block, shares, number, .. } => {
                let block = named(block, *shares);
                quote! {
                    <#block as #krate::__private::Runs<__Buffer, #number>>::run(
                        __buffer,
                        __settings,
                        __inputs,
                        __outputs,
                        __scratch,
                        __shared,
                    )
                }
            }
        };
        quote! {
            #[allow(private_bounds, private_interfaces, clippy::all, clippy::indexing_slicing)]
            impl<__Buffer: #krate::Buffer> #krate::__private::Runs<__Buffer, #place> for #name #lifetime
            where
                #bound,
            {
                type Settings = #settings;

                fn run(
                    __buffer: &mut __Buffer,
                    __settings: Self::Settings,
                    __inputs: &[#krate::View],
                    __outputs: &[#krate::View],
                    __scratch: &[#krate::View],
                    __shared: ::core::option::Option<#krate::Shared<'_>>,
                ) -> ::core::result::Result<(), #krate::Error> {
                    #run
                }
            }
        }
    });
    quote! { #(#runs)* }
}
