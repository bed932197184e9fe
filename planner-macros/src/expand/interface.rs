//! The accessors: which tensors can be read and written, under which names, with which types.

use std::collections::{BTreeMap, BTreeSet};

use model_graph_planner::TensorId;
use proc_macro2::{Ident, TokenStream};
use quote::{format_ident, quote};
use syn::Path;

use super::accessor::Accessor;
use super::{Expansion, parts, shared, steps};
use crate::ast::{self, Model, Role};
use crate::error::{Report, text};
use crate::lower::Lowered;

/// Methods that every model has.
pub(super) const TAKEN: &[&str] =
    &["new", "new_in", "from_buffer", "into_buffer", "load", "forward", "forward_with", "__build"];
/// Constants that every model has.
const TAKEN_CONSTANTS: &[&str] = &["PLAN"];
/// What every model with states has beside those.
const TAKEN_WITH_STATES: &[&str] = &["reset_state", "reset_state_of", "save_state", "restore_state"];
/// As well.
const TAKEN_SIZE: &str = "STATE_SIZE";

/// What is emitted beside the plan.
pub(super) struct Interface {
    pub(super) inputs: Vec<Input>,
    /// Fields and dims whose names are taken; the complaint is in the report, and a second item of the name would only
    /// be complained of again.
    taken: BTreeSet<String>,
    /// Fields among them, by position: of two with one name the first keeps it.
    pub(super) silent: BTreeSet<usize>,
    /// Accessors of blocks' tensors among them, by name.
    silent_parts: BTreeSet<String>,
}

/// An input, in the order of declaration.
pub(super) struct Input {
    pub(super) name: String,
    pub(super) field: usize,
    pub(super) keep: bool,
}

impl Interface {
    /// Collects the accessors and complains of names that are taken.
    pub(super) fn new(model: &Model, lowered: &Lowered<'_>, report: &mut Report) -> Interface {
        let mut methods: BTreeMap<String, String> = BTreeMap::new();
        for name in TAKEN {
            methods.insert((*name).into(), String::from("a method that every model has"));
        }
        for name in TAKEN_CONSTANTS {
            methods.insert((*name).into(), String::from("a constant that every model has"));
        }
        if model.shares() {
            methods.insert(String::from("weights"), String::from("a method that every model with shared weights has"));
        }
        let states = super::states::there_are(lowered);
        for name in TAKEN_WITH_STATES.iter().filter(|_| states) {
            methods.insert((*name).into(), String::from("a method that every model with states has"));
        }
        if states {
            methods.insert(TAKEN_SIZE.into(), String::from("a constant that every model with states has"));
        }
        let (mut inputs, mut taken, mut silent) = (Vec::new(), BTreeSet::new(), BTreeSet::new());
        for (index, field) in model.fields.iter().enumerate() {
            let name = field.plain_name();
            if let Role::Input { keep } = field.role {
                inputs.push(Input { name: name.clone(), field: index, keep });
            }
            let mut accessors = vec![name.clone()];
            if matches!(field.role, Role::Input { .. } | Role::Weight { .. } | Role::State) {
                accessors.push(format!("{name}_mut"));
            }
            if name.starts_with("__") {
                report.add(&field.name, text::RESERVED);
                silent.insert(index);
                continue;
            }
            for accessor in accessors {
                let owner = format!("the accessor of tensor `{name}`");
                match methods.get(&accessor) {
                    None => {
                        methods.insert(accessor, owner);
                    }
                    Some(other) => {
                        silent.insert(index);
                        // Two tensors of one name have been complained of before.
                        if *other != owner {
                            report.add(
                                &field.name,
                                format!("`{accessor}` would be both {owner} and {other}; give the tensor another name"),
                            );
                        }
                    }
                }
            }
        }
        let mut silent_parts = BTreeSet::new();
        for group in parts::groups(lowered) {
            for accessor in group.methods() {
                let owner = format!("the accessor of `{}`", group.path);
                if let Some(other) = methods.get(&accessor) {
                    let field = &model.fields[group.field].name;
                    report.add(
                        field,
                        format!("`{accessor}` would be both {owner} and {other}; give the field another name"),
                    );
                    silent_parts.insert(group.method.clone());
                    break;
                }
                methods.insert(accessor, owner);
            }
        }
        shared::complain_of_names(model, lowered, report);
        for (dim, _) in lowered.dims.iter() {
            let name = ast::plain(dim);
            let own = format!("the accessor of tensor `{name}`");
            let other = match methods.get(&name) {
                _ if TAKEN_CONSTANTS.contains(&name.as_str()) => Some("a constant that every model has"),
                _ if name.starts_with("__") => {
                    report.add(dim, text::RESERVED);
                    continue;
                }
                Some(other) => Some(other.as_str()),
                None => continue,
            };
            taken.insert(name);
            // A tensor and a dim of one name have been complained of before.
            if let Some(other) = other.filter(|other| *other != own) {
                report.add(dim, format!("`{dim}` is {other} already; give the dim another name"));
            }
        }
        Interface { inputs, taken, silent, silent_parts }
    }

    /// True when the name of a block's tensor's accessor is taken.
    pub(super) fn is_silent(&self, method: &str) -> bool {
        self.silent_parts.contains(method)
    }

    /// True when a constant for the dim can be emitted.
    pub(super) fn has_constant(&self, dim: &Ident) -> bool {
        !self.taken.contains(&ast::plain(dim))
    }

    /// The nested array type of a field's tensor.
    pub(super) fn rust_type(&self, lowered: &Lowered<'_>, field: usize) -> Option<TokenStream> {
        tensor_type(lowered, lowered.tensors[field]?)
    }

    /// Accessors of the model itself.
    pub(super) fn on_model(&self, expansion: &Expansion<'_>, krate: &Path) -> TokenStream {
        expansion
            .model
            .fields
            .iter()
            .enumerate()
            .filter_map(|(index, field)| {
                let accessor = Accessor::new(self, expansion, krate, index, field)?;
                Some(match &field.role {
                    Role::Input { keep } => {
                        let position = self.inputs.iter().position(|input| input.field == index)?;
                        let write = accessor.write(Some(position));
                        let read = match (*keep, &accessor.open) {
                            (false, _) => accessor.refuse("Overwritten"),
                            (true, None) => accessor.read(),
                            (true, Some(_)) => accessor.read_kept(position),
                        };
                        quote! { #read #write }
                    }
                    Role::Weight { .. } if accessor.apart => {
                        let (read, write) = (accessor.read(), accessor.refuse_write("SharedWeights"));
                        quote! { #read #write }
                    }
                    Role::Weight { .. } | Role::State => {
                        let (read, write) = (accessor.read(), accessor.write(None));
                        quote! { #read #write }
                    }
                    Role::Constant(_) | Role::ConstantFill(_) => accessor.read(),
                    Role::Node(_) | Role::Chain { .. } if field.keep.is_some() => accessor.read(),
                    Role::Node(_) | Role::Chain { .. } => accessor.refuse("Transient"),
                    Role::Output(_) => accessor.refuse("AfterForward"),
                    Role::Broken => return None,
                })
            })
            .collect()
    }

    /// Accessors of what holds shared weights.
    pub(super) fn on_weights(&self, expansion: &Expansion<'_>, krate: &Path) -> TokenStream {
        let weights =
            expansion.model.fields.iter().enumerate().filter(|(_, field)| {
                matches!(field.role, Role::Weight { .. }) && !shared::is_taken(&field.plain_name())
            });
        let accessors = weights.filter_map(|(index, field)| {
            let accessor = Accessor::new(self, expansion, krate, index, field)?;
            let (read, write) = (accessor.read_in(&quote! { self.buffer }), accessor.write_apart());
            Some(quote! { #read #write })
        });
        accessors.collect()
    }

    /// The outputs' accessors.
    pub(super) fn on_outputs(&self, expansion: &Expansion<'_>, krate: &Path) -> TokenStream {
        let name = &expansion.model.name;
        let outputs = format_ident!("{}Outputs", ast::plain(name));
        let accessors = expansion.model.fields.iter().enumerate().filter_map(|(index, field)| {
            let accessor = Accessor::new(self, expansion, krate, index, field)?;
            matches!(field.role, Role::Output(_)).then(|| accessor.read_through(&quote! { self.model }))
        });
        let generics = shared::generics(expansion.model, krate);
        let shared::Generics { outputs_bounded, of_outputs, of_some_outputs, bare, used, allow, .. } = generics;
        quote! {
            #[allow(dead_code, deprecated, clippy::all, clippy::indexing_slicing)]
            #allow
            impl #outputs_bounded #outputs #of_outputs {
                #(#accessors)*
            }

            impl #bare ::core::ops::Deref for #outputs #of_some_outputs {
                type Target = #name #used;

                fn deref(&self) -> &#name #used {
                    self.model
                }
            }
        }
    }
}

/// The nested array type of a tensor; of one in blocks the innermost array is one of blocks.
pub(super) fn tensor_type(lowered: &Lowered<'_>, id: TensorId) -> Option<TokenStream> {
    let ty = lowered.graph.tensor(id).ty;
    let element = steps::element(ty.dtype, &lowered.krate)?;
    let mut sizes: Vec<usize> = ty.shape.dims().iter().map(|dim| dim.size).collect();
    if let Some(last) = sizes.last_mut() {
        *last = last.div_ceil(ty.dtype.block());
    }
    Some(sizes.iter().rev().fold(element, |inner, size| quote! { [#inner; #size] }))
}

/// What forward returns.
pub(super) fn outputs(model: &Model, krate: &Path) -> TokenStream {
    let Model { vis, name, .. } = model;
    let outputs = format_ident!("{}Outputs", ast::plain(name));
    let doc = format!(
        "What [`{name}::forward`] gives: the outputs, until the model is written to or run again. \
         Everything else that the model lets one read is there as well."
    );
    let shared::Generics { outputs_declared, used, .. } = shared::generics(model, krate);
    quote! {
        #[doc = #doc]
        #[must_use]
        #vis struct #outputs #outputs_declared {
            model: &'__m #name #used,
        }
    }
}
