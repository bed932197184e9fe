//! What is emitted for open dims: what inputs bring, and where tensors lie for the values of a forward. Of a model without
//! open dims nothing is.

use model_graph_planner::op::{Fused, Operator, OwnCall};
use model_graph_planner::{Dim, How, Planned, PlannedStep, PlannedTensor, Storage};
use proc_macro2::TokenStream;
use quote::{format_ident, quote};
use syn::Path;

use super::{Expansion, steps};
use crate::ast::{self, Model};

/// The field of the struct that holds what is known of the open dims.
pub(super) fn field(model: &Model, krate: &Path) -> Option<TokenStream> {
    let (dims, inputs) = (model.varying().count(), inputs(model));
    let name = &model.name;
    // The lifetime that a model with shared weights has is written, for those who deny leaving it out.
    let borrowed = model.shares().then(|| quote! { <'static> });
    // Where a block is not found, nothing but the struct is emitted; the trait stands in for the model's own constant.
    (dims > 0).then(|| {
        quote! {
            open: #krate::__private::OpenDims<#dims, #inputs, {
                #[allow(unused_imports)]
                use #krate::__private::Moving as _;
                <#name #borrowed>::__MOVING
            }>,
        }
    })
}

/// Its value in a new model.
pub(super) fn value(model: &Model, krate: &Path) -> Option<TokenStream> {
    model.varying().next().map(|_| quote! { open: #krate::__private::OpenDims::new(), })
}

fn inputs(model: &Model) -> usize {
    model.fields.iter().filter(|field| matches!(field.role, ast::Role::Input { .. })).count()
}

/// Constants of the model.
pub(super) fn constants(expansion: &Expansion<'_>, krate: &Path) -> Option<TokenStream> {
    expansion.model.varying().next()?;
    let (moving, count) = (expansion.moving.len(), inputs(expansion.model));
    let extents = expansion.planned.map(|_| {
        let inputs = expansion.interface.inputs.iter().map(|input| {
            let (name, keep) = (&input.name, input.keep);
            let shape = expansion.lowered.tensors[input.field].map(|id| expansion.lowered.graph.tensor(id).ty.shape);
            let dims = shape.iter().flat_map(|shape| shape.dims()).map(|dim| declared(*dim, krate));
            quote! { #krate::__private::Extents { name: #name, keep: #keep, dims: &[#(#dims),*] } }
        });
        quote! {
            #[doc(hidden)]
            const __EXTENTS: [#krate::__private::Extents; #count] = [#(#inputs),*];
        }
    });
    Some(quote! {
        #[doc(hidden)]
        const __MOVING: ::core::primitive::usize = #moving;
        #extents
    })
}

/// Which tensors of the plan have open extents.
pub(super) fn extents(planned: &Planned, krate: &Path) -> TokenStream {
    if planned.open.is_empty() {
        return quote! { #krate::__private::OpenExtents::NONE };
    }
    let dims = planned.open.iter().map(|open| {
        let (name, bound) = (&open.name, open.bound);
        quote! { (#name, #bound) }
    });
    let open = planned.tensors.iter().enumerate().filter(|(_, tensor)| tensor.ty.shape.is_open());
    let tensors = open.map(|(index, tensor)| {
        let dims = tensor.ty.shape.dims().iter().map(|dim| declared(*dim, krate));
        quote! { (#index, &[#(#dims),*]) }
    });
    quote! { #krate::__private::OpenExtents { dims: &[#(#dims),*], tensors: &[#(#tensors),*] } }
}

/// An extent as it was declared.
fn declared(dim: Dim, krate: &Path) -> TokenStream {
    let size = dim.size;
    match dim.formula {
        None => quote! { #krate::__private::Dim::new(#size) },
        Some(formula) => {
            let model_graph_planner::Formula { dim, bound, times, plus, over } = formula;
            quote! { #krate::__private::open_dim(#dim, #bound, #times, #plus, #over) }
        }
    }
}

/// An extent for the values of a forward.
pub(super) fn extent(dim: Dim, krate: &Path) -> TokenStream {
    let size = dim.size;
    match dim.formula {
        None => quote! { #size },
        Some(formula) => {
            let model_graph_planner::Formula { dim, times, plus, over, .. } = formula;
            match (times, plus, over) {
                (1, 0, 1) => quote! { __values[#dim] },
                _ => quote! { #krate::__private::extent(__values[#dim], #times, #plus, #over) },
            }
        }
    }
}

/// The view of a tensor in a forward.
pub(super) fn view(expansion: &Expansion<'_>, tensor: usize) -> TokenStream {
    match expansion.moving.binary_search(&tensor) {
        Ok(place) => quote! { __views[#place] },
        Err(_) => quote! { TENSORS[#tensor].view },
    }
}

/// What comes before the steps of a model with open dims.
pub(super) fn settle(expansion: &Expansion<'_>, planned: &Planned, krate: &Path) -> TokenStream {
    let name = &expansion.model.name;
    let order = planned.by_storage().unwrap_or_default();
    let moving = &expansion.moving;
    let mut step_of = vec![None; planned.tensors.len()];
    for step in &planned.steps {
        step.scratch.iter().for_each(|tensor| step_of[*tensor] = Some(step));
    }
    let views = order.iter().filter_map(|tensor| {
        let place = moving.binary_search(tensor).ok()?;
        let view = worked_out(expansion, planned, *tensor, step_of[*tensor], krate);
        Some(quote! { __views[#place] = #view; })
    });
    quote! {
        self.open.settle(&<#name>::__EXTENTS, |__values, __views| {
            #(#views)*
            ::core::result::Result::Ok(())
        })?;
    }
}

/// The view of a tensor for the values; working space is that of a step.
fn worked_out(
    expansion: &Expansion<'_>,
    planned: &Planned,
    index: usize,
    of_step: Option<&PlannedStep>,
    krate: &Path,
) -> TokenStream {
    let tensor = &planned.tensors[index];
    let dtype = format_ident!("{}", tensor.view.dtype.variant());
    let dims = dims(tensor, krate);
    let offset = tensor.view.offset;
    let of = match tensor.storage {
        Storage::Own => None,
        Storage::View(of) | Storage::InPlace(of) | Storage::Part(of) => Some(view(expansion, of)),
    };
    match (&tensor.how, of) {
        (How::Packed, of) => {
            let offset = of.map_or(quote! { #offset }, |of| quote! { #of.offset });
            quote! { #krate::__private::packed(#krate::DType::#dtype, #offset, &[#(#dims),*]) }
        }
        (How::Look(op), Some(of)) => {
            let op = steps::operator(&**op, krate);
            quote! { #krate::__private::look(&#op, &{ #of }, &[#(#dims),*])? }
        }
        (How::Part { axis, start }, Some(of)) => {
            let (start, size) = (extent(*start, krate), &dims[*axis]);
            quote! { #krate::__private::part(&{ #of }, #axis, #start, #size) }
        }
        (How::Scratch, _) => {
            let most = tensor.view.span().len();
            match of_step {
                // Kernels of users' operators are given all of it and take what their rule comes to.
                Some(step) if step.op.as_any().is::<OwnCall>() => quote! { TENSORS[#index].view },
                Some(step) => scratch(planned, step, offset, most, krate),
                None => quote! { TENSORS[#index].view },
            }
        }
        (How::Look(_) | How::Part { .. }, None) => quote! { TENSORS[#index].view },
    }
}

fn scratch(planned: &Planned, step: &PlannedStep, offset: usize, most: usize, krate: &Path) -> TokenStream {
    let mut op: &dyn Operator = &*step.op;
    let mut operands = step.inputs.len();
    // The scratch of a call with stages is that of what it starts with.
    while let Some(fused) = op.as_any().downcast_ref::<Fused>() {
        (op, operands) = (&*fused.base, fused.operands);
    }
    let ty = |tensor: &usize| {
        let tensor = &planned.tensors[*tensor];
        let (dtype, dims) = (format_ident!("{}", tensor.view.dtype.variant()), dims(tensor, krate));
        quote! { (#krate::DType::#dtype, &[#(#dims),*]) }
    };
    let (op, inputs) = (steps::operator(op, krate), step.inputs[..operands].iter().map(ty));
    let output = step.outputs.iter().take(1).map(ty);
    quote! { #krate::__private::scratch(&#op, &[#(#inputs),*], #(#output)*, #offset, #most) }
}

fn dims(tensor: &PlannedTensor, krate: &Path) -> Vec<TokenStream> {
    tensor.ty.shape.dims().iter().map(|dim| extent(*dim, krate)).collect()
}
