//! The accessors: which tensors can be read and written, under which names, with which types.

use std::collections::{BTreeMap, BTreeSet};

use model_graph_planner::TensorId;
use proc_macro2::{Ident, TokenStream};
use quote::{format_ident, quote};
use syn::Path;

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
    silent: BTreeSet<usize>,
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

/// A type with open extents: `f32[SEQ x 64]`, and the bounds of the dims in it.
fn open_text(lowered: &Lowered<'_>, ty: &model_graph_planner::Type) -> String {
    let open = lowered.graph.open_dims();
    let name = |dim: usize| open.get(dim).map_or("?", |open| &open.name);
    let extent = |dim: &model_graph_planner::Dim| match dim.formula {
        Some(formula) => dim.spelled(name(formula.dim)).to_string(),
        None => dim.size.to_string(),
    };
    let dims: Vec<String> = ty.shape.dims().iter().map(extent).collect();
    let has = |at: usize| ty.shape.dims().iter().any(|dim| dim.formula.is_some_and(|formula| formula.dim == at));
    let bounds = open.iter().enumerate().filter(|(at, _)| has(*at));
    let bounds: Vec<String> = bounds.map(|(_, open)| format!("{} from 1 to {}", open.name, open.bound)).collect();
    format!("{}[{}], {}", ty.dtype, dims.join(" x "), bounds.join(" and "))
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

/// The parts of one tensor's accessors.
struct Accessor<'a> {
    krate: &'a Path,
    model: &'a Ident,
    field: &'a ast::Field,
    /// Type of the whole tensor; `f32` where it could not be found.
    ty: TokenStream,
    /// Position in the plan's tensors; none when there is no plan.
    tensor: Option<usize>,
    shape: String,
    /// Of a tensor with open extents, its element's type and its rank.
    open: Option<(TokenStream, usize)>,
    /// Where it lies in the last forward.
    view: TokenStream,
    /// An output that starts at another byte for other values.
    moves: bool,
    /// It lies among the shared weights.
    apart: bool,
}

impl<'a> Accessor<'a> {
    fn new(
        interface: &Interface,
        expansion: &'a Expansion<'_>,
        krate: &'a Path,
        index: usize,
        field: &'a ast::Field,
    ) -> Option<Accessor<'a>> {
        if interface.silent.contains(&index) {
            return None;
        }
        let id = expansion.lowered.tensors[index]?;
        let ty = interface.rust_type(expansion.lowered, index)?;
        let tensor = match expansion.planned {
            None => None,
            Some(planned) => match planned.position(id) {
                None if matches!(field.role, Role::Node(_) | Role::Chain { .. }) => None,
                position => Some(position?),
            },
        };
        let declared = expansion.lowered.graph.tensor(id).ty;
        let open = steps::element(declared.dtype, krate).filter(|_| declared.shape.is_open());
        let open = open.map(|element| (element, declared.shape.rank()));
        let shape = match &open {
            None => declared.to_string(),
            Some(_) => open_text(expansion.lowered, &declared),
        };
        let view = match tensor.map(|tensor| (tensor, expansion.moving.binary_search(&tensor))) {
            // Only what `forward` returns can be asked for a tensor that lies otherwise for other values.
            Some((_, Ok(place))) => quote! { self.model.open.views()[#place] },
            Some((tensor, Err(_))) => {
                let model = &expansion.model.name;
                quote! { <#model>::PLAN.tensors[#tensor].view }
            }
            None => TokenStream::new(),
        };
        let moves = matches!(field.role, Role::Output(_))
            && tensor.is_some_and(|tensor| expansion.moving.binary_search(&tensor).is_ok());
        let apart = shared::lies_there(expansion, &field.role, tensor);
        Some(Accessor { krate, model: &expansion.model.name, field, ty, tensor, shape, open, view, moves, apart })
    }

    fn offset(&self) -> TokenStream {
        let model = self.model;
        match self.tensor {
            Some(_) if self.moves => {
                let view = &self.view;
                quote! { #view.offset }
            }
            Some(tensor) if self.apart => {
                let krate = self.krate;
                quote! { #krate::__private::weight_offset(&<#model>::PLAN, #tensor) }
            }
            Some(tensor) => quote! { <#model>::PLAN.tensors[#tensor].view.offset },
            None => quote! { ::core::unreachable!() },
        }
    }

    fn read(&self) -> TokenStream {
        self.read_through(&quote! { self })
    }

    /// Of the model, which `owner` is.
    fn read_through(&self, owner: &TokenStream) -> TokenStream {
        match self.apart {
            true => self.read_in(&quote! { #owner.weights.buffer }),
            false => self.read_in(&quote! { #owner.buffer }),
        }
    }

    /// The type of the buffer that it lies in.
    fn lies_in(&self) -> Ident {
        if self.apart { format_ident!("__Weights") } else { format_ident!("__Buffer") }
    }

    fn read_in(&self, buffer: &TokenStream) -> TokenStream {
        let lies_in = self.lies_in();
        let Accessor { krate, field: ast::Field { docs, vis, name, .. }, ty, .. } = self;
        let (offset, doc) = (self.offset(), format!("\n\nTensor `{}`: `{}`.", self.field.plain_name(), self.shape));
        if let Some((element, rank)) = &self.open {
            let (view, model) = (&self.view, self.model);
            let body = match self.tensor {
                Some(_) if self.apart => quote! {
                    #krate::__private::open_ref(&#buffer, &#krate::__private::weight_view(&<#model>::PLAN, &#view))
                },
                Some(_) => quote! { #krate::__private::open_ref(&#buffer, &#view) },
                None => quote! { ::core::unreachable!() },
            };
            return quote! {
                #(#docs)*
                #[doc = #doc]
                #vis fn #name(&self) -> #krate::OpenRef<'_, #element, #rank, #lies_in> { #body }
            };
        }
        let body = match self.tensor {
            Some(_) => quote! { #krate::__private::tensor_ref(&#buffer, #offset) },
            None => quote! { ::core::unreachable!() },
        };
        quote! {
            #(#docs)*
            #[doc = #doc]
            #vis fn #name(&self) -> #krate::TensorRef<'_, #ty, #lies_in> { #body }
        }
    }

    /// A kept input with open extents, as it was written last.
    fn read_kept(&self, input: usize) -> TokenStream {
        let Accessor { krate, model, field: ast::Field { docs, vis, name, .. }, open, .. } = self;
        let Some((element, rank)) = open else { return TokenStream::new() };
        let (offset, doc) = (self.offset(), format!("\n\nTensor `{}`: `{}`.", self.field.plain_name(), self.shape));
        let body = match self.tensor {
            Some(_) => quote! {
                #krate::__private::open_kept(&self.buffer, #offset, &<#model>::__EXTENTS[#input], self.open.of(#input))
            },
            None => quote! { ::core::unreachable!() },
        };
        quote! {
            #(#docs)*
            #[doc = #doc]
            #vis fn #name(&self) -> #krate::OpenRef<'_, #element, #rank, __Buffer> { #body }
        }
    }

    fn write(&self, input: Option<usize>) -> TokenStream {
        let Accessor { krate, model, field: ast::Field { docs, vis, .. }, ty, .. } = self;
        let name = format_ident!("{}_mut", self.field.plain_name());
        let (offset, doc) = (self.offset(), format!("\n\nTensor `{}`: `{}`.", self.field.plain_name(), self.shape));
        if let (Some((element, rank)), Some(input)) = (&self.open, input) {
            let doc = format!("{doc} To be written before a forward, which takes its extents from it.");
            let body = match self.tensor {
                Some(_) => quote! {
                    #krate::__private::open_mut(
                        &mut self.buffer,
                        #offset,
                        const { &<#model>::__EXTENTS[#input] },
                        self.open.given(#input),
                        self.inputs.written(#input),
                    )
                },
                None => quote! { ::core::unreachable!() },
            };
            return quote! {
                #(#docs)*
                #[doc = #doc]
                #vis fn #name(&mut self) -> #krate::OpenMut<'_, #element, #rank, __Buffer> { #body }
            };
        }
        let (doc, fresh) = match input {
            Some(input) => (
                format!("{doc} To be written before a forward; zero until it is."),
                quote! { ::core::option::Option::Some(self.inputs.written(#input)) },
            ),
            None if matches!(self.field.role, Role::State) => (
                format!("{doc} Zero at the start, and what the last forward left after it."),
                quote! { ::core::option::Option::None },
            ),
            None => (format!("{doc} To be written."), quote! { ::core::option::Option::None }),
        };
        let body = match self.tensor {
            Some(_) => quote! { #krate::__private::tensor_mut(&mut self.buffer, #offset, #fresh) },
            None => quote! { ::core::unreachable!() },
        };
        quote! {
            #(#docs)*
            #[doc = #doc]
            #vis fn #name(&mut self) -> #krate::TensorMut<'_, #ty, __Buffer> { #body }
        }
    }

    /// Of what holds the weights.
    fn write_apart(&self) -> TokenStream {
        let Accessor { krate, field: ast::Field { docs, vis, .. }, ty, .. } = self;
        let name = format_ident!("{}_mut", self.field.plain_name());
        let (offset, doc) =
            (self.offset(), format!("\n\nTensor `{}`: {}. To be written.", self.field.plain_name(), self.shape));
        let body = match self.tensor {
            Some(_) => quote! { #krate::__private::weight_mut(&mut self.buffer, #offset) },
            None => quote! { ::core::unreachable!() },
        };
        quote! {
            #(#docs)*
            #[doc = #doc]
            #vis fn #name(&mut self) -> #krate::TensorMut<'_, #ty, __Weights> { #body }
        }
    }

    /// A method to write that cannot be called and says why.
    fn refuse_write(&self, why: &str) -> TokenStream {
        let Accessor { krate, field: ast::Field { docs, vis, .. }, ty, .. } = self;
        let (name, why) = (format_ident!("{}_mut", self.field.plain_name()), format_ident!("{why}"));
        quote! {
            #(#docs)*
            #[doc(hidden)]
            #vis fn #name(&mut self) -> #krate::TensorMut<'_, #ty, __Weights>
            where
                __Weights: #krate::__private::#why,
            {
                ::core::unreachable!()
            }
        }
    }

    /// A method that cannot be called and says why.
    fn refuse(&self, why: &str) -> TokenStream {
        let Accessor { krate, field: ast::Field { docs, vis, name, .. }, ty, .. } = self;
        let why = format_ident!("{why}");
        quote! {
            #(#docs)*
            #[doc(hidden)]
            #vis fn #name(&self) -> #krate::TensorRef<'_, #ty, __Buffer>
            where
                __Buffer: #krate::__private::#why,
            {
                ::core::unreachable!()
            }
        }
    }
}
