//! The driver of the phases, and the emitted code: data in one constant, behaviour in the runtime crate.

mod interface;
mod open;
mod own;
mod parts;
mod shared;
mod states;
mod steps;

use model_graph_planner::{Options, Order, PlanError, Planned, offset::Budget, plan};
use proc_macro2::{Delimiter, Group, Ident, TokenStream};
use quote::{ToTokens, format_ident, quote, quote_spanned};
use syn::Path;

use crate::ast::{self, Model};
use crate::error::{At, Report};
use crate::lower::{Lowered, lower};
use interface::Interface;

/// What a model's tokens become: the item, or complaints and what can be kept of it.
pub(crate) struct Expanded {
    pub(crate) tokens: TokenStream,
    /// Nothing was wrong.
    pub(crate) sound: bool,
}

/// Lowers, plans and emits a model. Its struct is left out when it is there already.
pub(crate) fn expand(model: &Model, mut report: Report, with_struct: bool) -> Expanded {
    let lowered = lower(model, &mut report);
    let interface = Interface::new(model, &lowered, &mut report);
    let open = model.is_open();
    let planned = if report.is_empty() && !open { planned(model, &lowered, &mut report) } else { None };
    // What is wrong elsewhere may be why something is not used.
    let sound = report.is_empty() && !open;
    let (idle, unwritten) = if sound { (&lowered.unused[..], &lowered.unwritten[..]) } else { (&[][..], &[][..]) };
    let idle = idle.iter().filter_map(|field| unused(&model.fields[*field]));
    let warnings = idle.chain(unwritten.iter().filter_map(|field| not_written(&model.fields[*field])));
    let moving = planned.as_ref().map(Planned::moving).unwrap_or_default();
    let expansion = Expansion { model, lowered: &lowered, interface: &interface, planned: planned.as_ref(), moving };
    let structs = with_struct.then(|| structs(model, planned.as_ref()));
    let body = if open {
        expansion.open()
    } else {
        quote! { #expansion }
    };
    let hand_on = report.is_empty().then(|| own::hand_on(model));
    Expanded { tokens: quote! { #report #(#warnings)* #structs #body #hand_on }, sound: report.is_empty() }
}

/// The model's struct and that of its outputs. They depend on nothing that is not written in the model itself.
pub(crate) fn structs(model: &Model, planned: Option<&Planned>) -> TokenStream {
    let Model { attributes, vis, name, .. } = model;
    if model.is_open() {
        let open: Vec<String> =
            model.settings.dims.iter().filter(|dim| dim.value.is_none()).map(|dim| format!("`{}`", dim.name)).collect();
        let doc = format!(
            "\n\nA block: {} bound where it is used, and it cannot stand alone.",
            match &open[..] {
                [dim] => format!("its dim {dim} is"),
                dims => format!("its dims {} are", dims.join(", ")),
            }
        );
        return quote! {
            #(#attributes)*
            #[doc = #doc]
            #[allow(dead_code)]
            #vis struct #name {
                never: ::core::convert::Infallible,
            }
        };
    }
    let krate = model.krate();
    let inputs = model.fields.iter().filter(|field| matches!(field.role, ast::Role::Input { .. })).count();
    let doc = match planned {
        Some(planned) => {
            format!(
                "\n\nA planned model: one buffer of {} bytes, {} steps, lower bound {} bytes. See [`{name}::PLAN`].",
                planned.size,
                planned.steps.len(),
                planned.lower_bound
            ) + &match planned.shared {
                0 => String::new(),
                shared => format!(" Its weights, {shared} bytes, lie in a [`{}`].", shared::holder(model)),
            }
        }
        None => String::new(),
    };
    let outputs = interface::outputs(model, &krate);
    let open = open::field(model, &krate);
    let (generics, weights) = (shared::generics(model, &krate).declared, shared::field(model));
    let holder = shared::structs(model, &krate);
    quote! {
        #(#attributes)*
        #[doc = #doc]
        #vis struct #name #generics {
            buffer: __Buffer,
            #weights
            inputs: #krate::__private::Inputs<#inputs>,
            #open
        }

        #holder

        #outputs
    }
}

/// What is left of an item that is no model at all.
pub(crate) fn rejected(report: &Report, item: TokenStream) -> TokenStream {
    let mut trees = item.clone().into_iter();
    let is_struct = trees.by_ref().any(|tree| matches!(&tree, proc_macro2::TokenTree::Ident(word) if word == "struct"));
    match trees.next() {
        // A struct of that name, without the attributes that only this macro understands.
        Some(proc_macro2::TokenTree::Ident(name)) if is_struct && syn::parse2::<Ident>(quote!(#name)).is_ok() => {
            quote! { #report #[allow(dead_code, unreachable_pub)] #[doc = ""] pub struct #name; }
        }
        _ => quote! { #report #item },
    }
}

fn planned(model: &Model, lowered: &Lowered, report: &mut Report) -> Option<Planned> {
    let widest = lowered.graph.tensors().map(|(_, tensor)| tensor.ty.dtype.align()).max().unwrap_or(1);
    let mut options = Options::default();
    if let Some((align, span)) = model.settings.align {
        if align < widest {
            report.add(span, format!("`align = {align}` is less than the {widest} bytes that an element needs"));
            return None;
        }
        options.align = align;
    }
    options.fuse = !model.settings.no_fuse;
    if model.settings.high_effort {
        options.budget = Budget::HIGH;
    }
    options.order = model.settings.order;
    options.shared_weights = model.shares();
    match plan(&lowered.graph, &options) {
        Ok(planned) => Some(planned),
        Err(PlanError::TooLarge) => {
            let text = format!("the size of `{}` overflows: its tensors together do not fit an address", model.name);
            report.add(&model.name, text);
            None
        }
        Err(fault @ PlanError::Fault(_)) => {
            let Options { align, .. } = options;
            let order = if options.order == Order::MinPeak { "min_peak" } else { "declared" };
            let effort = if model.settings.high_effort { "high" } else { "default" };
            let weights = if model.shares() { "shared" } else { "owned" };
            let settings = format!("// align = {align}, order = {order}, effort = {effort}, weights = {weights}");
            let text = format!("{fault}\nplease report this, with the graph:\n{settings}\n{}", lowered.graph);
            report.add(&model.name, text);
            None
        }
    }
}

/// A warning at a field that nothing depends on.
///
/// Macros cannot warn on stable Rust, but a use of something deprecated does, at the span of its use. A mistake of this
/// kind is no error because a network is written field by field: the half-written one should build, and rustc too only
/// warns of what is never used.
fn unused(field: &ast::Field) -> Option<TokenStream> {
    let plain = field.plain_name();
    let note = match &field.role {
        _ if field.allow_unused => return None,
        ast::Role::Input { .. } => format!("input `{plain}` is never read: no output depends on it"),
        ast::Role::Weight { .. } => {
            format!("weight `{plain}` is never read, yet takes memory: no output depends on it")
        }
        ast::Role::Constant(_) | ast::Role::ConstantFill(_) => {
            format!("constant `{plain}` is never read, yet takes memory: no output depends on it")
        }
        ast::Role::State => format!("state `{plain}` is neither read nor written, yet takes memory"),
        ast::Role::Node(_) | ast::Role::Chain { .. } => {
            format!("node `{plain}` is never read and is not computed: no output depends on it")
        }
        ast::Role::Output(_) | ast::Role::Broken => return None,
    };
    let note = format!("{note}; use it, remove it, or write `#[allow(unused)]` on it");
    Some(warning(field, "unused", &note))
}

/// A warning at a state that no forward writes.
fn not_written(field: &ast::Field) -> Option<TokenStream> {
    let plain = field.plain_name();
    let note = format!(
        "state `{plain}` is read and no forward writes it, so that it stays as it is; write it, such as by \
         `#[node(write({plain}, src = …))]`, make it an `#[input(keep)]`, or write `#[allow(unused)]` on it"
    );
    (!field.allow_unused).then(|| warning(field, "unwritten", &note))
}

fn warning(field: &ast::Field, what: &str, note: &str) -> TokenStream {
    let name = Ident::new(&format!("{what}_{}", field.plain_name()), field.name.span());
    // The value of the block, rather than of a `let`, of which a linter would complain once more.
    let used = quote_spanned!(field.name.span()=> #name);
    quote! {
        const _: () = {
            #[deprecated(note = #note)]
            #[allow(non_upper_case_globals)]
            const #name: () = ();
            #used
        };
    }
}

/// All that is emitted, as one value that knows how to become tokens.
struct Expansion<'a> {
    model: &'a Model,
    lowered: &'a Lowered<'a>,
    interface: &'a Interface,
    /// None when something is wrong; then everything has its form and no body.
    planned: Option<&'a Planned>,
    /// The tensors that lie otherwise for other values of the open dims, in ascending order.
    moving: Vec<usize>,
}

impl Model {
    /// Where the crate `model-graph` is.
    pub(crate) fn krate(&self) -> Path {
        self.settings.krate.clone().unwrap_or_else(|| syn::parse_quote!(::model_graph))
    }
}

impl ToTokens for Expansion<'_> {
    fn to_tokens(&self, tokens: &mut TokenStream) {
        let name = &self.model.name;
        let krate = self.model.krate();
        let plan = steps::plan(self, &krate);
        let dims =
            self.lowered.dims.iter().filter(|(name, _)| self.interface.has_constant(name)).map(|(name, value)| {
                let value = value.size;
                let doc = match self.model.varying().any(|dim| dim.name == *name) {
                    true => format!("The largest value of the open extent `{name}`."),
                    false => format!("The declared extent `{name}`."),
                };
                quote! { #[doc = #doc] pub const #name: ::core::primitive::usize = #value; }
            });
        let constants = self.constants();
        let open = open::constants(self, &krate);
        let bound = self.model.varying().next().map(|_| {
            " It is the plan for the largest values of the open dims; for others the same storages stay at the same places, \
              and less of them is used."
        });
        let plan_doc =
            format!(" Where every tensor lies and when, and the steps that are run.{}", bound.unwrap_or_default());
        let construction = self.construction(&krate);
        let forward = steps::forward(self, &krate);
        let accessors = self.interface.on_model(self, &krate);
        let parts = parts::accessors(self, &krate);
        let states = states::methods(self, &krate);
        let state_size = states::size(self, &krate);
        let outputs = self.interface.on_outputs(self, &krate);
        let generics = shared::generics(self.model, &krate);
        let shared::Generics { bounded, used, default, allow, .. } = &generics;
        let holder = shared::holder_items(self, &krate);
        let new_in = self.new_in(&krate);
        tokens.extend(quote! {
            #[allow(dead_code, deprecated, overflowing_literals, clippy::all, clippy::indexing_slicing)]
            #allow
            impl #name #default {
                #[doc = #plan_doc]
                pub const PLAN: #krate::Plan<'static> = #plan;
                #state_size
                #(#dims)*
                #constants
                #open
            }

            #[allow(dead_code, deprecated, clippy::all, clippy::indexing_slicing)]
            #allow
            impl #bounded #name #used {
                #construction
                #forward
                #accessors
                #parts
                #states
            }

            #new_in

            #outputs

            #holder
        });
    }
}

impl Expansion<'_> {
    /// What is emitted of a model that is only a block: what those that use it need from where it stands.
    fn open(&self) -> TokenStream {
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
    fn constants(&self) -> TokenStream {
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

    fn new_in(&self, krate: &Path) -> TokenStream {
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

    fn construction(&self, krate: &Path) -> TokenStream {
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
            /// was.
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

    fn init(&self, planned: &Planned, krate: &Path) -> TokenStream {
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

    fn load(&self, planned: &Planned, krate: &Path) -> TokenStream {
        let (name, entries) = (&self.model.name, self.weights(planned));
        quote! { #krate::__private::load(&mut self.buffer, &<#name>::PLAN, &[#(#entries),*], __source) }
    }

    /// Positions of the weights in the plan's tensors, and their names in the source.
    fn weights(&self, planned: &Planned) -> Vec<TokenStream> {
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
