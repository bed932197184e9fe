//! What is emitted for the tensors of blocks: accessors under the path's name, constants from where the block stands,
//! names in weights sources.

use std::collections::BTreeSet;

use model_graph_planner::{Planned, TensorId};
use proc_macro2::TokenStream;
use quote::{format_ident, quote};
use syn::{Path, Visibility};

use super::Expansion;
use super::interface::tensor_type;
use super::shared;
use crate::ast::{self, Role};
use crate::lower::{Lowered, Part};

/// A tensor of a block, in all copies that there are of the block.
pub(super) struct Group<'a> {
    /// The accessor's name.
    pub(super) method: String,
    /// The path without the copies' numbers.
    pub(super) path: String,
    /// The outermost field that it is a part of.
    pub(super) field: usize,
    declared: &'a ast::Field,
    /// How many copies there are, for each chain on the way.
    copies: Vec<usize>,
    tensors: Vec<TensorId>,
}

impl Group<'_> {
    /// It is filled from a source.
    pub(super) fn is_weight(&self) -> bool {
        matches!(self.declared.role, Role::Weight { .. })
    }

    /// The names of its accessors.
    pub(super) fn methods(&self) -> Vec<String> {
        let mut methods = vec![self.method.clone()];
        if matches!(self.declared.role, Role::Weight { .. } | Role::State) {
            methods.push(format!("{}_mut", self.method));
        }
        methods
    }
}

/// The parts, those of a chain's copies together, in the order of their first copies.
pub(super) fn groups<'a>(lowered: &'a Lowered<'_>) -> Vec<Group<'a>> {
    let mut groups: Vec<Group<'a>> = Vec::new();
    let mut places = std::collections::BTreeMap::new();
    for part in &lowered.parts {
        let names = part.segments.iter().map(|segment| segment.name.clone());
        let path = names.chain([part.declared.plain_name()]).collect::<Vec<String>>().join(".");
        let place = *places.entry(path.clone()).or_insert_with(|| {
            groups.push(Group {
                method: path.replace('.', "_"),
                path,
                field: part.root.field,
                declared: part.declared,
                copies: part.segments.iter().filter_map(|segment| Some(segment.copy?.1)).collect(),
                tensors: Vec::new(),
            });
            groups.len() - 1
        });
        groups[place].tensors.push(part.id);
    }
    groups
}

/// Accessors of the blocks' tensors.
pub(super) fn accessors(expansion: &Expansion<'_>, krate: &Path) -> TokenStream {
    let groups = groups(expansion.lowered);
    let accessors = groups.iter().filter(|group| !expansion.interface.is_silent(&group.method));
    accessors.filter_map(|group| accessor(group, expansion, krate, Of::Model)).collect()
}

/// Accessors of the blocks' weights, of what holds them when they are shared.
pub(super) fn on_weights(expansion: &Expansion<'_>, krate: &Path) -> TokenStream {
    let groups = groups(expansion.lowered);
    let weights = groups.iter().filter(|group| group.is_weight() && !shared::is_taken(&group.method));
    let accessors = weights.filter(|group| !expansion.interface.is_silent(&group.method));
    accessors.filter_map(|group| accessor(group, expansion, krate, Of::Weights)).collect()
}

/// Whose accessor it is.
#[derive(Clone, Copy, PartialEq)]
enum Of {
    Model,
    /// What holds shared weights.
    Weights,
}

fn accessor(group: &Group<'_>, expansion: &Expansion<'_>, krate: &Path, of: Of) -> Option<TokenStream> {
    let apart = expansion.model.shares() && matches!(group.declared.role, Role::Weight { .. });
    let (buffer, lies_in) = match (apart, of) {
        (true, Of::Model) => (quote! { self.weights.buffer }, format_ident!("__Weights")),
        (true, Of::Weights) => (quote! { self.buffer }, format_ident!("__Weights")),
        (false, _) => (quote! { self.buffer }, format_ident!("__Buffer")),
    };
    let Group { declared, copies, .. } = group;
    let first = *group.tensors.first()?;
    let ty = tensor_type(expansion.lowered, first)?;
    let model = &expansion.model.name;
    // What is private where the block stands is private where it is used.
    let vis = match declared.vis {
        Visibility::Public(_) => &expansion.model.fields[group.field].vis,
        _ => &Visibility::Inherited,
    };
    let copy = |chain: usize| match copies.len() {
        1 => format_ident!("__copy"),
        _ => format_ident!("__copy_{chain}"),
    };
    let numbers = copies.iter().map(|_| quote! { ::core::primitive::usize });
    let numbers: Vec<TokenStream> = numbers.collect();
    let parameters: Vec<_> = (0..copies.len()).map(copy).collect();
    let offset = match expansion.planned {
        None => None,
        Some(planned) => {
            let positions: Vec<usize> = group.tensors.iter().map(|id| planned.position(*id)).collect::<Option<_>>()?;
            let position = match copies.is_empty() {
                true => quote! { #(#positions)* },
                false => quote! { #krate::__private::copy(&[#(#positions),*], &[#((#parameters, #copies)),*]) },
            };
            Some(match apart {
                true => quote! { #krate::__private::weight_offset(&<#model>::PLAN, #position) },
                false => quote! { <#model>::PLAN.tensors[#position].view.offset },
            })
        }
    };
    let body = |function: &str, rest: TokenStream, mark: Option<TokenStream>| match &offset {
        None => quote! { let _ = (#(#parameters),*); ::core::unreachable!() },
        Some(offset) => {
            let function = format_ident!("{function}");
            let mark = mark.map(|mark| quote! { , #mark });
            quote! { #krate::__private::#function(#rest, #offset #mark) }
        }
    };
    let docs = &declared.docs;
    let shape = expansion.lowered.graph.tensor(first).ty;
    let panics = match copies.is_empty() {
        true => "",
        false => "\n\n# Panics\nWhen there is no copy of that number, counted from 0.",
    };
    let doc = format!("\n\nTensor `{}`: `{shape}`.{panics}", group.path);
    let name = format_ident!("{}", group.method);
    let read_body = body("tensor_ref", quote! { &#buffer }, None);
    let read = quote! {
        #(#docs)*
        #[doc = #doc]
        #[track_caller]
        #vis fn #name(&self #(, #parameters: ::core::primitive::usize)*) -> #krate::TensorRef<'_, #ty, #lies_in> {
            #read_body
        }
    };
    let write = matches!(declared.role, Role::Weight { .. } | Role::State).then(|| {
        let name = format_ident!("{}_mut", group.method);
        if apart && of == Of::Model {
            return quote! {
                #(#docs)*
                #[doc(hidden)]
                #vis fn #name(&mut self #(, _: #numbers)*) -> #krate::TensorMut<'_, #ty, __Weights>
                where
                    __Weights: #krate::__private::SharedWeights,
                {
                    ::core::unreachable!()
                }
            };
        }
        let mark = match (&declared.role, of) {
            (Role::State, _) => quote! { self.inputs.state() },
            (_, Of::Model) => quote! { self.inputs.weight() },
            (_, _) => quote! { #krate::__private::Mark::apart(&mut self.half) },
        };
        let body = body("tensor_mut", quote! { &mut #buffer }, Some(mark));
        quote! {
            #(#docs)*
            #[doc = #doc]
            #[track_caller]
            #vis fn #name(&mut self #(, #parameters: ::core::primitive::usize)*) -> #krate::TensorMut<'_, #ty, #lies_in> {
                #body
            }
        }
    });
    Some(quote! { #read #write })
}

/// The constants of blocks, from the types of the blocks: each was worked out where its block stands, and is there for
/// models that use this one as a block.
pub(super) fn constants(expansion: &Expansion<'_>) -> TokenStream {
    let mut seen = BTreeSet::new();
    let mut constants = TokenStream::new();
    for part in constant_parts(expansion.lowered) {
        let (name, theirs, path) = (constant(part), format_ident!("__CONSTANT_{}", part.key), &part.root.path);
        let Some(ty) = tensor_type(expansion.lowered, part.id) else { continue };
        let ty = match part.declared.role {
            Role::ConstantFill(_) => quote! { fn(&mut #ty) },
            _ => ty,
        };
        if seen.insert(name.to_string()) {
            constants.extend(quote! { #[doc(hidden)] pub const #name: #ty = <#path>::#theirs; });
        }
    }
    constants
}

/// Writes the constants of blocks into a new model.
pub(super) fn init(expansion: &Expansion<'_>, planned: &Planned, krate: &Path) -> TokenStream {
    let model = &expansion.model.name;
    let mut seen = BTreeSet::new();
    let mut init = TokenStream::new();
    for part in constant_parts(expansion.lowered) {
        let Some(index) = planned.position(part.id).filter(|index| seen.insert(*index)) else { continue };
        let Some(ty) = tensor_type(expansion.lowered, part.id) else { continue };
        let (offset, value) = (quote! { <#model>::PLAN.tensors[#index].view.offset }, constant(part));
        init.extend(match part.declared.role {
            Role::ConstantFill(_) => {
                quote! { #krate::__private::fill::<_, #ty>(&mut __buffer, #offset, <#model>::#value)?; }
            }
            _ => quote! { #krate::__private::set::<_, #ty>(&mut __buffer, #offset, const { &<#model>::#value })?; },
        });
    }
    init
}

/// The blocks' weights: positions in the plan's tensors and names in the source.
pub(super) fn weights<'a>(
    expansion: &'a Expansion<'_>,
    planned: &'a Planned,
) -> impl Iterator<Item = TokenStream> + 'a {
    let weights = expansion.lowered.parts.iter().filter(|part| matches!(part.declared.role, Role::Weight { .. }));
    weights.filter_map(|part| {
        let (index, name) = (planned.position(part.id)?, &part.name);
        Some(quote! { (#index, #name) })
    })
}

fn constant_parts<'a>(lowered: &'a Lowered<'_>) -> impl Iterator<Item = &'a Part<'a>> {
    let is_constant = |role: &Role| matches!(role, Role::Constant(_) | Role::ConstantFill(_));
    lowered.parts.iter().filter(move |part| is_constant(&part.declared.role))
}

fn constant(part: &Part<'_>) -> proc_macro2::Ident {
    format_ident!("__CONSTANT_{}{}", part.root.key, part.key)
}
