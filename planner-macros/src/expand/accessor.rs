//! What is emitted for one tensor's accessors: reading it, writing it, and why it can be neither.

use proc_macro2::{Ident, TokenStream};
use quote::{format_ident, quote};
use syn::Path;

use super::interface::Interface;
use super::{Expansion, shared, steps};
use crate::ast::{self, Role};
use crate::lower::Lowered;

/// The parts of one tensor's accessors.
pub(super) struct Accessor<'a> {
    krate: &'a Path,
    model: &'a Ident,
    field: &'a ast::Field,
    /// Type of the whole tensor; `f32` where it could not be found.
    ty: TokenStream,
    /// Position in the plan's tensors; none when there is no plan.
    tensor: Option<usize>,
    shape: String,
    /// Of a tensor with open extents, its element's type and its rank.
    pub(super) open: Option<(TokenStream, usize)>,
    /// What it is written by, where its outermost extent alone is open.
    row: Option<TokenStream>,
    /// Where it lies in the last forward.
    view: TokenStream,
    /// An output that starts at another byte for other values.
    moves: bool,
    /// It lies among the shared weights.
    pub(super) apart: bool,
}

impl<'a> Accessor<'a> {
    pub(super) fn new(
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
        let row = open.as_ref().and_then(|element| row_type(&declared, element));
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
        Some(Accessor { krate, model: &expansion.model.name, field, ty, tensor, shape, open, row, view, moves, apart })
    }

    fn offset(&self) -> TokenStream {
        let model = self.model;
        match self.tensor {
            Some(_) if self.moves => {
                let (krate, view) = (self.krate, &self.view);
                match self.apart {
                    true => quote! { #krate::__private::weight_view(&<#model>::PLAN, &#view).offset },
                    false => quote! { #view.offset },
                }
            }
            Some(tensor) if self.apart => {
                let krate = self.krate;
                quote! { #krate::__private::weight_offset(&<#model>::PLAN, #tensor) }
            }
            Some(tensor) => quote! { <#model>::PLAN.tensors[#tensor].view.offset },
            None => quote! { ::core::unreachable!() },
        }
    }

    pub(super) fn read(&self) -> TokenStream {
        self.read_through(&quote! { self })
    }

    /// Of the model, which `owner` is.
    pub(super) fn read_through(&self, owner: &TokenStream) -> TokenStream {
        match self.apart {
            true => self.read_in(&quote! { #owner.weights.buffer }),
            false => self.read_in(&quote! { #owner.buffer }),
        }
    }

    /// The type of the buffer that it lies in.
    fn lies_in(&self) -> Ident {
        if self.apart { format_ident!("__Weights") } else { format_ident!("__Buffer") }
    }

    pub(super) fn read_in(&self, buffer: &TokenStream) -> TokenStream {
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
    pub(super) fn read_kept(&self, input: usize) -> TokenStream {
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

    pub(super) fn write(&self, input: Option<usize>) -> TokenStream {
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
            let row = self.row.as_ref().map(|row| quote! { , #row });
            return quote! {
                #(#docs)*
                #[doc = #doc]
                #vis fn #name(&mut self) -> #krate::OpenMut<'_, #element, #rank, __Buffer #row> { #body }
            };
        }
        let (doc, mark) = match input {
            Some(input) => (
                format!("{doc} To be written before a forward; zero until it is."),
                quote! { self.inputs.written(#input) },
            ),
            None if matches!(self.field.role, Role::State) => (
                format!("{doc} Zero at the start, and what the last forward left after it."),
                quote! { self.inputs.state() },
            ),
            None => (format!("{doc} To be written."), quote! { self.inputs.weight() }),
        };
        let body = match self.tensor {
            Some(_) => quote! { #krate::__private::tensor_mut(&mut self.buffer, #offset, #mark) },
            None => quote! { ::core::unreachable!() },
        };
        quote! {
            #(#docs)*
            #[doc = #doc]
            #vis fn #name(&mut self) -> #krate::TensorMut<'_, #ty, __Buffer> { #body }
        }
    }

    /// Of what holds the weights.
    pub(super) fn write_apart(&self) -> TokenStream {
        let Accessor { krate, field: ast::Field { docs, vis, .. }, ty, .. } = self;
        let name = format_ident!("{}_mut", self.field.plain_name());
        let (offset, doc) =
            (self.offset(), format!("\n\nTensor `{}`: {}. To be written.", self.field.plain_name(), self.shape));
        let body = match self.tensor {
            Some(_) => quote! {
                #krate::__private::tensor_mut(
                    &mut self.buffer,
                    #offset,
                    #krate::__private::Mark::apart(&mut self.half),
                )
            },
            None => quote! { ::core::unreachable!() },
        };
        quote! {
            #(#docs)*
            #[doc = #doc]
            #vis fn #name(&mut self) -> #krate::TensorMut<'_, #ty, __Weights> { #body }
        }
    }

    /// A method to write that cannot be called and says why.
    pub(super) fn refuse_write(&self, why: &str) -> TokenStream {
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
    pub(super) fn refuse(&self, why: &str) -> TokenStream {
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

/// The nested array type behind the outermost dimension, where that extent alone is open.
fn row_type(ty: &model_graph_planner::Type, element: &TokenStream) -> Option<TokenStream> {
    let (outermost, inner) = ty.shape.dims().split_first()?;
    let fixed = inner.iter().all(|dim| dim.formula.is_none());
    let row = inner.iter().rev().map(|dim| dim.size).fold(element.clone(), |row, size| quote! { [#row; #size] });
    (outermost.formula.is_some() && fixed && !inner.is_empty()).then_some(row)
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
