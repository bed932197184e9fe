//! What is emitted to make a model: its constants, its constructors and the loading of its weights.

use model_graph_planner::Planned;
use proc_macro2::{Delimiter, Group, TokenStream};
use quote::{format_ident, quote};
use syn::Path;

use super::{Expansion, open, parts, shared, steps};
use crate::ast::{self, Model};
use crate::error::At;

impl Expansion<'_> {
    /// What is emitted of a model that is only a block: what those that use it need from where it stands.
    pub(super) fn open(&self) -> TokenStream {
        let (name, constants, krate) = (&self.model.name, self.constants(), self.model.krate());
        quote! {
            #[allow(dead_code, deprecated, overflowing_literals, clippy::all, clippy::indexing_slicing)]
            impl #name {
                #constants

                #[doc(hidden)]
                pub fn new<__Type: #krate::__private::Open>(_: &__Type) -> ::core::result::Result<Self, #krate::Error> {
                    ::core::unreachable!()
                }
            }
        }
    }

    /// The user's constants and functions that fill one, each in an associated constant: there no name of the emitted
    /// code is in scope, and a wrong type is reported at the user's expression. Models that use this one as a block
    /// take them from here, so that they are worked out among the names that they were written in.
    pub(super) fn constants(&self) -> TokenStream {
        let constants = self.model.fields.iter().enumerate().filter_map(|(index, field)| {
            let ty = self.interface.rust_type(self.lowered, index)?;
            let name = format_ident!("__CONSTANT_{index}");
            match &field.role {
                ast::Role::Constant(expr) => {
                    // In a block of its own, so that an expression that stops in the middle takes nothing else along;
                    // the compiler then points at the block's end, which is the user's last token.
                    let mut block = Group::new(Delimiter::Brace, expr.clone());
                    block.set_span(At::tokens(expr).end());
                    Some(quote! { #[doc(hidden)] pub const #name: #ty = #block; })
                }
                ast::Role::ConstantFill(path) => Some(quote! { #[doc(hidden)] pub const #name: fn(&mut #ty) = #path; }),
                _ => None,
            }
        });
        let parts = parts::constants(self);
        quote! { #(#constants)* #parts }
    }

    pub(super) fn new_in(&self, krate: &Path) -> TokenStream {
        if self.model.shares() {
            return shared::new_in(self.model, krate);
        }
        let name = &self.model.name;
        quote! {
            #[allow(dead_code, deprecated, clippy::all, clippy::indexing_slicing)]
            impl<'__m> #name<#krate::CpuSlice<'__m>> {
                /// A model in memory that the caller owns. [`PLAN`](Self::PLAN) says how many bytes it takes and what
                /// their start has to be a multiple of.
                ///
                /// # Errors
                /// `Misaligned` or `TooSmall`, with what is needed and what was given.
                pub fn new_in(__memory: &'__m mut [::core::primitive::u8]) -> ::core::result::Result<Self, #krate::Error> {
                    Self::from_buffer(#krate::CpuSlice::borrowed(__memory))
                }
            }
        }
    }

    pub(super) fn construction(&self, krate: &Path) -> TokenStream {
        let Model { name, .. } = self.model;
        if self.model.shares() {
            let init = self.planned.map(|planned| self.init(planned, krate)).unwrap_or_default();
            let open = open::value(self.model, krate);
            let rest = quote! { inputs: #krate::__private::Inputs::none(), #open };
            return shared::construction(self.model, &init, &rest, krate);
        }
        let (build, load) = match self.planned {
            None => (
                quote! { let _ = __buffer; ::core::unreachable!() },
                quote! { let _ = __source; ::core::unreachable!() },
            ),
            Some(planned) => {
                let init = self.init(planned, krate);
                let open = open::value(self.model, krate);
                let inputs = quote! { inputs: #krate::__private::Inputs::none() };
                let build = match open {
                    None => quote! { #init ::core::result::Result::Ok(Self { buffer: __buffer, #inputs }) },
                    Some(open) => {
                        quote! { #init ::core::result::Result::Ok(Self { buffer: __buffer, #inputs, #open }) }
                    }
                };
                (build, self.load(planned, krate))
            }
        };
        quote! {
            /// A model in a new buffer of that type; the one allocation there ever is.
            ///
            /// Weights are zero until they are loaded or written.
            ///
            /// # Errors
            /// `AlignmentTooSmall`, `TooLarge`, `SlotTooSmall` or `OutOfMemory`.
            pub fn new<__Type>(__buffer_type: &__Type) -> ::core::result::Result<Self, #krate::Error>
            where
                __Type: #krate::BufferType<Buffer = __Buffer>,
            {
                Self::__build(#krate::__private::allocate(__buffer_type, &<#name>::PLAN)?)
            }

            /// A model in a buffer that is there already. Its bytes are cleared.
            ///
            /// # Errors
            /// `Misaligned` or `TooSmall`, with what is needed and what was given.
            pub fn from_buffer(__buffer: __Buffer) -> ::core::result::Result<Self, #krate::Error> {
                Self::__build(#krate::__private::adopt(__buffer, &<#name>::PLAN)?)
            }

            #[allow(unused_mut)]
            fn __build(mut __buffer: __Buffer) -> ::core::result::Result<Self, #krate::Error> {
                #build
            }

            /// Fills the weights by name.
            ///
            /// # Errors
            /// `Weights` with everything that is missing or of another shape or element type. The model is then as it
            /// was. After an error of the device, or of the source in the midst, forward is `HalfLoaded` until they are
            /// loaded.
            pub fn load<__Source>(&mut self, __source: &__Source) -> ::core::result::Result<(), #krate::Error>
            where
                __Source: #krate::WeightSource + ?::core::marker::Sized,
            {
                #load
            }

            /// The buffer, given back.
            pub fn into_buffer(self) -> __Buffer {
                self.buffer
            }
        }
    }

    pub(super) fn init(&self, planned: &Planned, krate: &Path) -> TokenStream {
        let name = &self.model.name;
        let numbers = self.lowered.numbers.iter().filter_map(|(id, dtype, number)| {
            let index = planned.position(*id)?;
            let (element, number) = (steps::element(*dtype, krate)?, steps::number(*dtype, *number, krate));
            Some(quote! {
                #krate::__private::set::<_, #element>(&mut __buffer, <#name>::PLAN.tensors[#index].view.offset, &#number)?;
            })
        });
        let fields = self.model.fields.iter().enumerate().filter_map(|(field, declared)| {
            let index = planned.position(self.lowered.tensors[field]?)?;
            let ty = self.interface.rust_type(self.lowered, field)?;
            let offset = quote! { <#name>::PLAN.tensors[#index].view.offset };
            match &declared.role {
                ast::Role::Constant(_) => {
                    let value = format_ident!("__CONSTANT_{field}");
                    Some(quote! {
                        #krate::__private::set::<_, #ty>(&mut __buffer, #offset, const { &<#name>::#value })?;
                    })
                }
                ast::Role::ConstantFill(_) => {
                    let value = format_ident!("__CONSTANT_{field}");
                    Some(quote! { #krate::__private::fill::<_, #ty>(&mut __buffer, #offset, <#name>::#value)?; })
                }
                _ => None,
            }
        });
        let parts = parts::init(self, planned, krate);
        quote! { #(#numbers)* #(#fields)* #parts }
    }

    pub(super) fn load(&self, planned: &Planned, krate: &Path) -> TokenStream {
        let (name, entries) = (&self.model.name, self.weights(planned));
        quote! { #krate::__private::load(&mut self.buffer, self.inputs.weights(), &<#name>::PLAN, &[#(#entries),*], __source) }
    }

    /// Positions of the weights in the plan's tensors, and their names in the source.
    pub(super) fn weights(&self, planned: &Planned) -> Vec<TokenStream> {
        let entries = self.model.fields.iter().enumerate().filter_map(|(field, declared)| {
            let ast::Role::Weight { name } = &declared.role else { return None };
            let index = planned.position(self.lowered.tensors[field]?)?;
            let key = name.as_ref().map_or_else(|| declared.plain_name(), syn::LitStr::value);
            Some(quote! { (#index, #key) })
        });
        let parts = parts::weights(self, planned);
        entries.chain(parts).collect()
    }
}
