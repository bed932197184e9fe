//! The driver of the phases, and the emitted code: data in one constant, behaviour in the runtime crate.

mod accessor;
mod construct;
mod interface;
mod open;
mod own;
mod parts;
mod shared;
mod states;
mod steps;

use model_graph_planner::{Options, Order, PlanError, Planned, offset::Budget, plan};
use proc_macro2::{Ident, TokenStream};
use quote::{ToTokens, quote, quote_spanned};
use syn::Path;

use crate::ast::{self, Model};
use crate::error::Report;
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
